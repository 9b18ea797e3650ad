import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    include: ['src/**/*.test.ts', 'test/**/*.test.ts'],
    exclude: ['test/soak/**'],
    testTimeout: 60_000,
    // What is waited for comes on a busy machine too, only later.
    expect: { poll: { timeout: 20_000 } },
    hookTimeout: 60_000,
    // One core less is the default: on two cores that is one.
    maxWorkers: '100%',
    globalSetup: ['test/support/build.ts'],
    setupFiles: ['test/support/laws.ts'],
    env: { TZ: 'UTC', NO_COLOR: '1' },
  },
})
