/** What `fumi doctor` finds, for a person. */

import stringWidth from 'string-width'
import { ABOUT, type Finding } from '../../../app.ts'
import { printableField } from '../../../lib/text.ts'
import { inWords, say } from '../../language.ts'
import { paint } from '../paint.ts'
import { count, plural } from '../table.ts'

const WIDTH = 16

export function findingText({ about, state, what, todo }: Finding): string {
  const hint = todo === undefined ? '' : `${' '.repeat(WIDTH + 2)}${paint.cyan(printableField(inWords(todo)))}\n`
  const name = ABOUT[about] ? inWords(ABOUT[about]) : about
  const pad = ' '.repeat(Math.max(0, WIDTH - stringWidth(name)))
  return `${markOf(state)} ${name}${pad}${printableField(inWords(what))}\n${hint}`
}

function markOf(state: Finding['state']): string {
  switch (state) {
    case 'ok':
      return paint.green('✓')
    case 'note':
      return paint.yellow('·')
    case 'problem':
      return paint.red('✗')
  }
}

export const verdict = (problems: number): string =>
  problems === 0
    ? say('\nAll is well.\n', '\n問題ありません。\n')
    : say(`\n${paint.bold(plural(problems, 'problem'))}.\n`, `\n${paint.bold(`問題 ${count(problems)} 件`)}\n`)
