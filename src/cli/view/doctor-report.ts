/** What `fumi doctor` finds, for a person. */

import stringWidth from 'string-width'
import { type DoctorFinding, SUBJECT_LABELS } from '../../app.ts'
import { toPrintableField } from '../../lib/text.ts'
import { localize, say } from '../language.ts'
import { paint } from './paint.ts'
import { formatCount, plural } from './table.ts'

const NAME_WIDTH = 16

export function renderFinding({ about, state, what, todo }: DoctorFinding): string {
  const hint =
    todo === undefined ? '' : `${' '.repeat(NAME_WIDTH + 2)}${paint.cyan(toPrintableField(localize(todo)))}\n`
  const name = SUBJECT_LABELS[about] ? localize(SUBJECT_LABELS[about]) : about
  const pad = ' '.repeat(Math.max(0, NAME_WIDTH - stringWidth(name)))
  return `${stateSign(state)} ${name}${pad}${toPrintableField(localize(what))}\n${hint}`
}

function stateSign(state: DoctorFinding['state']): string {
  switch (state) {
    case 'ok':
      return paint.green('✓')
    case 'note':
      return paint.yellow('·')
    case 'problem':
      return paint.red('✗')
  }
}

export const renderVerdict = (problems: number): string =>
  problems === 0
    ? say('\nAll is well.\n', '\n問題ありません。\n')
    : say(`\n${paint.bold(plural(problems, 'problem'))}.\n`, `\n${paint.bold(`問題 ${formatCount(problems)} 件`)}\n`)
