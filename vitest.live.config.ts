import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    include: ['test/live/codex.ts', 'test/live/agents.ts', 'test/live/memory.ts'],
    globalSetup: ['test/support/build.ts'],
    setupFiles: ['test/support/setup.ts'],
    testTimeout: 300_000,
    hookTimeout: 600_000,
    fileParallelism: false,
    env: { TZ: 'UTC', LC_ALL: 'C.UTF-8' },
  },
})
