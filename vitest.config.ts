import { availableParallelism } from 'node:os'
import { defineConfig } from 'vitest/config'
import { BaseSequencer, type TestSpecification } from 'vitest/node'

/** Files that take longest, in order: begun first, so that none of them is left alone at the end of a run. */
const LONGEST = [
  'test/web/list-and-conversation.test.ts',
  'test/web/widths.test.ts',
  'test/team/page.test.ts',
  'test/web/reports.test.ts',
  'test/chat/processes/dies-with-program.test.ts',
  'test/chat/command.test.ts',
  'src/agents/contract.test.ts',
  'test/hostile/git.test.ts',
  'test/web/chat.test.ts',
  'test/web/hostile.test.ts',
  'test/hostile/no-permission.test.ts',
  'test/sync/processes.test.ts',
  'test/conformance/conformance.test.ts',
  'test/web/texts.test.ts',
  'test/web/conversation-details.test.ts',
  'test/hostile/failing-agent.test.ts',
  'test/index/damaged.test.ts',
  'test/search/laws.test.ts',
  'test/backup/exchange.test.ts',
  'test/index/safety.test.ts',
]

class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ moduleId }: TestSpecification): number => {
      const at = LONGEST.findIndex((path) => moduleId.endsWith(`/${path}`))
      return at === -1 ? LONGEST.length : at
    }
    return (await super.sort(files)).sort((a, b) => rank(a) - rank(b))
  }
}

export default defineConfig({
  test: {
    include: ['src/**/*.test.ts', 'test/**/*.test.ts'],
    exclude: ['test/soak/**'],
    testTimeout: 300_000,
    // What is waited for comes on a busy machine too, only later.
    expect: { poll: { timeout: 60_000 } },
    hookTimeout: 300_000,
    // On a shared machine, one disturbed run says little. The report names every test that ran again.
    retry: process.env['CI'] === undefined ? 0 : 1,
    sequence: { sequencer: LongestFirst },
    // Many tests wait for other processes: more of them than there are cores keep these busy.
    maxWorkers: availableParallelism() * 2,
    // What is loaded once serves all files: loading took a fifth of the time. Nothing may be left in it: see setup.ts.
    isolate: false,
    globalSetup: ['test/support/build.ts', 'test/support/postgres-cluster.ts'],
    setupFiles: ['test/support/setup.ts'],
    env: { TZ: 'UTC', LC_ALL: 'C.UTF-8', NO_COLOR: '1' },
  },
})
