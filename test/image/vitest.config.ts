import { defineConfig } from 'vitest/config';

/** Apart from the other tests: the image takes a minute to build, and tools that not every machine has. */
export default defineConfig({
  test: {
    include: ['test/image/*.image.ts'],
    globalSetup: 'test/support/leftovers.ts',
    testTimeout: 120_000,
    hookTimeout: 600_000,
    expect: { poll: { timeout: 60_000, interval: 250 } },
  },
});
