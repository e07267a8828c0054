import { describe, expect, it } from 'vitest';
import { isScrapifieError } from '../errors/scrapifie-error.ts';
import { loadSettings, type SettingProblem } from './load.ts';
import { settingsSecretsOf, shownSettings } from './secrets.ts';

const load = (variables: NodeJS.ProcessEnv) => loadSettings(variables, { cwd: '/nowhere' });

function problemsOf(variables: NodeJS.ProcessEnv): readonly SettingProblem[] {
  try {
    load(variables);
    return [];
  } catch (error) {
    if (!isScrapifieError(error)) throw error;
    return error.details as SettingProblem[];
  }
}

describe('standard variables of OpenTelemetry', () => {
  it('name the receiver, what it gets, and how much of it', () => {
    const settings = load({
      OTEL_EXPORTER_OTLP_ENDPOINT: 'https://otlp.example/base/',
      OTEL_EXPORTER_OTLP_HEADERS: 'api-key=hush%20hush%20key',
      OTEL_SERVICE_NAME: 'crawler',
      OTEL_RESOURCE_ATTRIBUTES: 'deployment.environment.name=staging',
      OTEL_TRACES_SAMPLER: 'parentbased_traceidratio',
      OTEL_TRACES_SAMPLER_ARG: '0.25',
      OTEL_BSP_MAX_QUEUE_SIZE: '8192',
    });
    expect(settings).toMatchObject({
      otelUrl: 'https://otlp.example/base/v1/traces',
      otelHeaders: 'api-key=hush%20hush%20key',
      otelServiceName: 'crawler',
      otelAttributes: 'deployment.environment.name=staging',
      traceRatio: 0.25,
      traceQueue: 8_192,
    });
    expect(settingsSecretsOf(settings)).toContain('hush hush key');
    expect(JSON.stringify(shownSettings(settings))).not.toContain('hush');
  });

  it.each([
    [{ OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'http://h.example/here' }, 'http://h.example/here'],
    [{ OTEL_TRACES_EXPORTER: 'otlp' }, 'http://localhost:4318/v1/traces'],
    [{ OTEL_TRACES_EXPORTER: 'none', OTEL_EXPORTER_OTLP_ENDPOINT: 'http://h.example' }, undefined],
    [{ OTEL_SDK_DISABLED: 'true', OTEL_EXPORTER_OTLP_ENDPOINT: 'http://h.example' }, undefined],
    [{ OTEL_SERVICE_NAME: 'another', OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc' }, undefined],
  ])('%o lead to %s', (variables, url) => {
    expect(load(variables).otelUrl).toBe(url);
  });

  it('count only where ours say nothing, and the headers of one receiver are not sent to another', () => {
    const settings = load({
      SCRAPIFIE_OTEL_URL: 'http://ours.example',
      SCRAPIFIE_TRACE_RATIO: '1',
      OTEL_EXPORTER_OTLP_ENDPOINT: 'http://theirs.example',
      OTEL_EXPORTER_OTLP_HEADERS: 'api-key=theirs',
      OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc',
      OTEL_TRACES_SAMPLER: 'parentbased_always_off',
      OTEL_SERVICE_NAME: 'crawler',
    });
    expect(settings).toMatchObject({
      otelUrl: 'http://ours.example',
      otelHeaders: '',
      traceRatio: 1,
      otelServiceName: 'crawler',
    });
  });

  it('that ask for what there is not are refused by name', () => {
    const problems = problemsOf({
      OTEL_EXPORTER_OTLP_ENDPOINT: 'http://h.example',
      OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc',
      OTEL_TRACES_SAMPLER: 'traceidratio',
      OTEL_EXPORTER_OTLP_HEADERS: 'no pair',
      OTEL_BSP_MAX_QUEUE_SIZE: 'many',
    });
    expect(problems.map(({ setting }) => setting).sort()).toEqual([
      'OTEL_BSP_MAX_QUEUE_SIZE',
      'OTEL_EXPORTER_OTLP_HEADERS',
      'OTEL_EXPORTER_OTLP_PROTOCOL',
      'OTEL_TRACES_SAMPLER',
    ]);
    expect(problemsOf({ OTEL_TRACES_EXPORTER: 'zipkin' }).map(({ setting }) => setting)).toEqual([
      'OTEL_TRACES_EXPORTER',
    ]);
  });
});
