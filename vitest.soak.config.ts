import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    globalSetup: ['test/support/build.ts'],
    // Some short ones are here too: a soak is everything that may go wrong, in one run.
    include: [
      'test/soak/**/*.test.ts',
      'test/archive/disk.test.ts',
      'test/archive/live.test.ts',
      'test/openai/chat/laws.test.ts',
      'test/openai/streams.test.ts',
      'test/server/sockets.test.ts',
      'test/web/hostile.test.ts',
    ],
    // Figures are told as annotations.
    reporters: ['verbose'],
    testTimeout: 7_200_000,
    hookTimeout: 7_200_000,
    expect: { poll: { timeout: 60_000 } },
    // The long wait of the live test is filled with the others.
    maxWorkers: 2,
    env: { TZ: 'UTC', LC_ALL: 'C.UTF-8', FUMI_SEED: 'random' },
    setupFiles: ['test/support/laws.ts'],
  },
})
