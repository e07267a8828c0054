import {
  Component,
  type ComponentType,
  type LazyExoticComponent,
  lazy,
  type ReactNode,
  Suspense,
  useEffect,
} from 'react';
import { FailureState } from './states.tsx';

const ASK_MS = 1_000;

async function isReachable(): Promise<boolean> {
  try {
    return (await fetch('/healthz', { cache: 'no-store' })).ok;
  } catch {
    return false;
  }
}

/** Stands for code that could not be loaded: a new load of the whole page gets all of it. */
function LoadAnew() {
  useEffect(() => location.reload(), []);
  return null;
}

/**
 * Loads code of the dashboard. While the server is away it waits, below the banner that says so; when the server answers
 * again, the page is loaded anew, because browsers keep a module that failed as failed.
 */
export function loadPatiently<T extends object>(load: () => Promise<T>, name: keyof T): Promise<T> {
  return load().catch(async (cause: unknown) => {
    if (await isReachable()) throw cause;
    while (!(await isReachable())) await new Promise((resolve) => setTimeout(resolve, ASK_MS));
    return { [name]: LoadAnew } as T;
  });
}

/** A component that is loaded when it is first shown. */
export const lazyPart = <P extends object, N extends string>(
  load: () => Promise<{ readonly [K in N]: ComponentType<P> }>,
  name: N,
): LazyExoticComponent<ComponentType<P>> =>
  lazy(async () => ({ default: (await loadPatiently(load, name))[name] }));

/** The place of a lazy part: what stands there meanwhile, and a failure of the part alone, with a way to try again. */
export const PartPlace = ({
  meanwhile = null,
  children,
}: {
  readonly meanwhile?: ReactNode;
  readonly children: ReactNode;
}) => (
  <PartBoundary>
    <Suspense fallback={meanwhile}>{children}</Suspense>
  </PartBoundary>
);

class PartBoundary extends Component<{ readonly children: ReactNode }, { readonly failure: unknown }> {
  override state: { readonly failure: unknown } = { failure: null };

  static getDerivedStateFromError(failure: unknown) {
    return { failure };
  }

  override render(): ReactNode {
    const { failure } = this.state;
    if (failure === null) return this.props.children;
    return <FailureState failure={failure} onRetry={() => location.reload()} />;
  }
}
