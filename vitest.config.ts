import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** What takes longest begins first, so that nobody waits for one file in the end; what computes goes beside what waits. */
const LONGEST = [
  ...['problems', 'deployment-problems', 'deployment-model', 'export-schedule', 'site', 'slack-trouble'],
  ...['regular-expressions', 'deployment-states', 'digest-refused', 'agent-limits', 'faults-anywhere'],
  ...['embedded-redis', 'deployment-hostile', 'outage-log', 'causes', 'year', 'export-buttons'],
  ...['digest-kill', 'stop-in-calls', 'redis-trouble', 'chaos', 'checks', 'kill', 'after-restore'],
  ...['app-process', 'agent-restart', 'export-schedule-kill', 'stop', 'story', 'demo'],
];

const FAILOVER = 'test/outside/failover.process.ts';

class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ moduleId }: TestSpecification) => {
      const at = LONGEST.findIndex((name) => new RegExp(`/${name}\\.(?:test|process)\\.ts$`).test(moduleId));
      if (at >= 0) return at;
      return moduleId.includes('/outside/') ? LONGEST.length : LONGEST.length + 1;
    };
    return (await super.sort(files)).toSorted((one, other) => rank(one) - rank(other));
  }
}

export default defineConfig({
  test: {
    projects: [
      { extends: true, test: { name: 'tests', include: ['test/**/*.test.ts'] } },
      // The demo's own, also those that start it as a process.
      { extends: true, test: { name: 'demo', include: ['demo/**/*.{test,process}.ts'] } },
      // These start Docket or other programs as processes, and kill them. Each takes seconds.
      {
        extends: true,
        test: { name: 'processes', include: ['test/**/*.process.ts'], exclude: [FAILOVER] },
      },
      // After all others, alone: Docket waits only so long for a replica, and a busy machine can make it miss a write.
      { extends: true, test: { name: 'failover', include: [FAILOVER], sequence: { groupOrder: 1 } } },
    ],
    globalSetup: 'test/support/leftovers.ts',
    // No test leaves anything behind in its process, so that files share what they import.
    isolate: false,
    // CommonJS modules are imported as Node imports them.
    deps: { interopDefault: false },
    // It imports JSON without saying so, which Node refuses.
    server: { deps: { inline: ['@actions/workflow-parser'] } },
    testTimeout: 120_000,
    hookTimeout: 60_000,
    // As long as `until` of the flow tests waits: a busy machine is no failure.
    expect: { poll: { timeout: 20_000 } },
    maxConcurrency: 8,
    // Most of the time is waiting, so four files at once are fine on two cores.
    maxWorkers: 4,
    sequence: { sequencer: LongestFirst },
  },
});
