import { availableParallelism } from 'node:os'
import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    include: ['src/**/*.test.ts', 'test/**/*.test.ts'],
    exclude: ['test/soak/**'],
    testTimeout: 60_000,
    // What is waited for comes on a busy machine too, only later.
    expect: { poll: { timeout: 20_000 } },
    hookTimeout: 60_000,
    // Many tests wait for other processes: more of them than there are cores keep these busy.
    maxWorkers: availableParallelism() * 2,
    // What is loaded once serves all files: loading took a fifth of the time. Nothing may be left in it: see setup.ts.
    isolate: false,
    globalSetup: ['test/support/build.ts'],
    setupFiles: ['test/support/setup.ts'],
    env: { TZ: 'UTC', LC_ALL: 'C.UTF-8', NO_COLOR: '1' },
  },
})
