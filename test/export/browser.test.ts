/** The exported page in a real browser, if there is one. */
import { spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Script } from 'node:vm'
import { expect, test } from 'vitest'
import { PAGE_SCRIPT } from '../../src/export/html/script.ts'
import { HTML_ATTACKS } from '../hostile/html-attacks.ts'
import { CHROMIUM_FLAGS, chromiumPath } from '../support/chromium.ts'
import { tempFolder } from '../support/codex-log.ts'
import { exported, type Step } from './arbitrary-conversations.ts'

if (chromiumPath === undefined) console.log('skipped: the exported page in a browser (no Chromium here)')

const FLAGS = ['--headless', ...CHROMIUM_FLAGS, '--virtual-time-budget=2000']

/** The document after its script has run. */
function seen(page: string, ...flags: readonly string[]): string {
  const folder = tempFolder()
  const file = join(folder, 'page.html')
  writeFileSync(file, page)
  const args = [...FLAGS, `--user-data-dir=${join(folder, 'profile')}`, ...flags, '--dump-dom', `file://${file}`]
  return spawnSync(chromiumPath ?? '', args, { encoding: 'utf8', maxBuffer: 1 << 28 }).stdout
}

test('its script is a script', () => {
  expect(() => new Script(PAGE_SCRIPT)).not.toThrow()
})

test.skipIf(chromiumPath === undefined)(
  'its policy lets the script run, and it speaks the language of its reader',
  async () => {
    const page = await exported('html', [
      { kind: 'prompt', text: 'Why?' },
      { kind: 'tool', text: 'ls', output: 'a', failed: false },
      { kind: 'answer', text: 'Because.' },
    ])
    expect(page).toContain('<body class="no-script">')
    // On a busy machine, the browser may be asked before the script has run.
    const english = expect.poll(() => seen(page, '--accept-lang=en-US'))
    await english.toMatch(/<body class="">[\s\S]*>You<[\s\S]*>1 tool call</)
    const japanese = expect.poll(() => seen(page, '--accept-lang=ja'))
    await japanese.toMatch(/<html lang="ja">[\s\S]*placeholder="この会話を検索"[\s\S]*>あなた<[\s\S]*>ツール 1 回</)
  },
)

test.skipIf(chromiumPath === undefined)('no attack adds an element to it', async () => {
  const attacks = HTML_ATTACKS.filter(({ input }) => input.length < 10_000)
  const steps = attacks.flatMap(({ input }): readonly Step[] => [
    { kind: 'prompt', text: input },
    { kind: 'tool', text: input, output: input, failed: true },
    { kind: 'answer', text: input },
  ])
  const document = seen(await exported('html', steps))
  const elements = new Set(Array.from(document.matchAll(/<([a-z][a-z0-9-]*)/gi), ([, name]) => name?.toLowerCase()))
  for (const name of ['iframe', 'object', 'embed', 'form', 'svg', 'math', 'link', 'base', 'textarea', 'template'])
    expect(elements).not.toContain(name)
  expect(document.split('<script').length).toBe(2)
  expect(document.split('<section class="turn"').length).toBe(attacks.length + 1)
})
