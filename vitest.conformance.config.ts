import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    include: ['test/conformance/full.ts'],
    setupFiles: ['test/support/setup.ts'],
    testTimeout: 3_600_000,
    fileParallelism: false,
    env: { TZ: 'UTC', LC_ALL: 'C.UTF-8' },
  },
})
