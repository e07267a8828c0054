import { expect, vi } from 'vitest';
import type { Bus } from '../../src/core/ports/bus.ts';
import { contract, type Open, type Skip } from './contract.ts';

const until = (condition: () => void) => vi.waitFor(condition, { timeout: 20_000, interval: 5 });

/**
 * A bus may lose and double messages when it fails; on a healthy one, as here, what is published after a
 * subscription stands arrives. `settle` waits until subscriptions made so far do stand.
 */
export function busContract(
  name: string,
  open: Open<Bus>,
  skips: readonly Skip[] = [],
  settle: (bus: Bus) => Promise<void> = (bus) => bus.check(),
) {
  contract<Bus>(`bus: ${name}`, open, skips, (holds) => {
    const ready = (...hosts: string[]) => ({ hosts });

    holds('brings a message to every listener of its topic, unchanged', async (bus) => {
      const first = vi.fn();
      const second = vi.fn();
      bus.subscribe('job.changed', first);
      bus.subscribe('job.changed', second);
      await settle(bus);
      const message = { jobs: ['a', 'b'], finished: ['b'] };
      bus.publish('job.changed', message);
      await until(() => {
        expect(first.mock.calls).toEqual([[message]]);
        expect(second.mock.calls).toEqual([[message]]);
      });
    });

    holds('brings the messages of a topic in order', async (bus) => {
      const seen: string[] = [];
      bus.subscribe('host.ready', ({ hosts }) => void seen.push(...hosts));
      await settle(bus);
      const sent = Array.from({ length: 50 }, (_, index) => `host-${index}`);
      for (const host of sent) bus.publish('host.ready', ready(host));
      await until(() => expect(seen).toEqual(sent));
    });

    holds('keeps topics apart', async (bus) => {
      const hosts = vi.fn();
      const policy = vi.fn();
      bus.subscribe('host.ready', hosts);
      bus.subscribe('policy.changed', policy);
      await settle(bus);
      bus.publish('policy.changed', {});
      bus.publish('host.ready', ready('a'));
      await until(() => expect(hosts.mock.calls).toEqual([[ready('a')]]));
      await until(() => expect(policy.mock.calls).toEqual([[{}]]));
    });

    holds('brings the figures of proxies', async (bus) => {
      const figures = vi.fn();
      bus.subscribe('proxy.figures', figures);
      await settle(bus);
      const message = { process: 'host:1', figures: '{"proxies":[]}' };
      bus.publish('proxy.figures', message);
      await until(() => expect(figures.mock.calls).toEqual([[message]]));
    });

    holds('brings word of processes that are alive', async (bus) => {
      const alive = vi.fn();
      bus.subscribe('process.alive', alive);
      await settle(bus);
      const message = { process: 'host:1', role: 'api', version: '1.0.0', startedAt: 1 };
      bus.publish('process.alive', message);
      await until(() => expect(alive.mock.calls).toEqual([[message]]));
    });

    holds('publishing without a listener is no error', async (bus) => {
      bus.publish('host.ready', ready('a'));
      await bus.check();
    });

    holds('ends one subscription and leaves the others', async (bus) => {
      const gone = vi.fn();
      const kept = vi.fn();
      const end = bus.subscribe('host.ready', gone);
      bus.subscribe('host.ready', kept);
      await settle(bus);
      end();
      end();
      bus.publish('host.ready', ready('a'));
      await until(() => expect(kept).toHaveBeenCalledTimes(1));
      expect(gone).not.toHaveBeenCalled();
    });

    holds('the same function subscribed twice is two subscriptions', async (bus) => {
      const listener = vi.fn();
      const end = bus.subscribe('host.ready', listener);
      bus.subscribe('host.ready', listener);
      await settle(bus);
      bus.publish('host.ready', ready('a'));
      await until(() => expect(listener).toHaveBeenCalledTimes(2));
      end();
      bus.publish('host.ready', ready('b'));
      await until(() => expect(listener).toHaveBeenCalledTimes(3));
    });

    holds('does not run listeners inside publish', async (bus) => {
      const listener = vi.fn();
      bus.subscribe('host.ready', listener);
      await settle(bus);
      bus.publish('host.ready', ready('a'));
      expect(listener).not.toHaveBeenCalled();
      await until(() => expect(listener).toHaveBeenCalledTimes(1));
    });

    holds('a listener that throws or rejects harms nobody else', async (bus) => {
      const seen: string[] = [];
      bus.subscribe('host.ready', () => {
        throw new Error('A bad listener.');
      });
      bus.subscribe('host.ready', async () => {
        throw new Error('A bad listener that takes its time.');
      });
      bus.subscribe('host.ready', ({ hosts }) => void seen.push(...hosts));
      await settle(bus);
      bus.publish('host.ready', ready('a'));
      bus.publish('host.ready', ready('b'));
      await until(() => expect(seen).toEqual(['a', 'b']));
    });

    holds('a listener may subscribe, end itself and publish', async (bus) => {
      const seen: string[] = [];
      const end = bus.subscribe('policy.changed', () => {
        end();
        bus.publish('host.ready', ready('from the listener'));
      });
      bus.subscribe('host.ready', ({ hosts }) => void seen.push(...hosts));
      await settle(bus);
      bus.publish('policy.changed', {});
      await until(() => expect(seen).toEqual(['from the listener']));
    });

    holds('is silent after close', async (bus) => {
      const listener = vi.fn();
      bus.subscribe('host.ready', listener);
      await settle(bus);
      await bus.close();
      bus.publish('host.ready', ready('a'));
      await new Promise((resolve) => setImmediate(resolve));
      expect(listener).not.toHaveBeenCalled();
    });
  });
}
