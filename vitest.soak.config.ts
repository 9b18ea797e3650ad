import { defineConfig } from 'vitest/config'
import { BaseSequencer, type TestSpecification } from 'vitest/node'

/** The test that mostly waits begins at once: the others fill its hour. */
class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const isLongest = ({ moduleId }: TestSpecification): boolean => moduleId.endsWith('/soak/live.test.ts')
    return (await super.sort(files)).sort((a, b) => Number(isLongest(b)) - Number(isLongest(a)))
  }
}

export default defineConfig({
  test: {
    globalSetup: ['test/support/build.ts', 'test/support/postgres-cluster.ts'],
    // Some short ones are here too: a soak is everything that may go wrong, in one run.
    include: [
      'test/soak/**/*.test.ts',
      'src/agents/contract.test.ts',
      'test/chat/processes/dies-with-program.test.ts',
      'test/hostile/numbers.test.ts',
      'test/hostile/leaves.test.ts',
      'test/search/laws.test.ts',
      'test/index/disk.test.ts',
      'test/sync/watch.test.ts',
      'test/openai/chat/laws.test.ts',
      'test/openai/streams.test.ts',
      'test/server/sockets.test.ts',
      'test/web/hostile.test.ts',
    ],
    // Figures are told as annotations.
    reporters: ['verbose'],
    sequence: { sequencer: LongestFirst },
    testTimeout: 7_200_000,
    hookTimeout: 7_200_000,
    expect: { poll: { timeout: 60_000 } },
    // The live test mostly waits: two others run beside it.
    maxWorkers: 3,
    env: { TZ: 'UTC', LC_ALL: 'C.UTF-8', FUMI_SEED: 'random' },
    setupFiles: ['test/support/setup.ts'],
  },
})
