/** Long tests of exports: `npm run soak`. */
import { appendFileSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { assistant, call, header, result, tempFolder, tempLog, user } from '../support/codex-log.ts'
import { fumi } from '../support/run-fumi.ts'

const MEGABYTES = Number(process.env['FUMI_SOAK_MB'] ?? 100)
/** Far less than the session: only the live data must fit. */
const HEAP_MEGABYTES = 64

/** One prompt and many tools: no turn ends before the last line. */
function longTurn(): string {
  const path = tempLog(`${header()}\n${user(1, 'Begin.')}\n`)
  const output = 'one line of output, not very long\n'.repeat(300)
  let n = 0
  while (statSync(path).size < MEGABYTES * 1_000_000) {
    const lines: string[] = []
    for (let at = 0; at < 500; at++, n++)
      lines.push(call(2, `call_${n}`, { command: ['ls', String(n)] }), result(2, `call_${n}`, output))
    appendFileSync(path, `${lines.join('\n')}\n`)
  }
  appendFileSync(path, `${assistant(3, 'The end.')}\n`)
  return path
}

test(`a turn of ${MEGABYTES} MB is exported in ${HEAP_MEGABYTES} MB of heap`, () => {
  const path = longTurn()
  const folder = tempFolder()
  for (const format of ['html', 'md', 'txt', 'json']) {
    const out = join(folder, `talk.${format}`)
    const env = { NODE_OPTIONS: `--max-old-space-size=${HEAP_MEGABYTES}` }
    expect(fumi(['export', path, '-o', out], { env })).toMatchObject({ code: 0, err: '' })
    expect(readFileSync(out, 'utf8').slice(-200_000)).toContain('The end.')
  }
})
