import type { Deployment } from './deployment.ts';
import { canRender } from './helm/engine.ts';
import { composeDeployment } from './readers/compose.ts';
import { helmDeployments } from './readers/helm.ts';
import { imageDeployment } from './readers/image.ts';
import { systemdDeployment } from './readers/systemd.ts';
import { terraformDeployment } from './readers/terraform.ts';

/** Values of the variables that the Swarm stack has no default for. */
export const SWARM_VARIABLES = { DOMAIN: 'scrapifie.example', ACME_EMAIL: 'ops@scrapifie.example' } as const;

/** Every way to run Scrapifie that this project has files for; a new one is one more line here. */
export const DEPLOYMENTS: Readonly<
  Record<string, () => readonly Deployment[] | Promise<readonly Deployment[]>>
> = {
  image: () => [imageDeployment()],
  compose: () => ['compose.yaml', 'compose.fleet.yaml'].map((path) => composeDeployment(path)),
  swarm: () => [composeDeployment('deploy/swarm/stack.yaml', SWARM_VARIABLES)],
  systemd: () => [systemdDeployment()],
  terraform: async () => [await terraformDeployment('production')],
  // Rendering needs libraries that not every system has.
  ...(canRender() ? { helm: helmDeployments } : {}),
};
