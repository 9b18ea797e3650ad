/** What `fumi doctor` finds, for a person. */
import type { Finding } from '../../../app.ts'
import { say } from '../../language.ts'
import { safe } from '../conversation.ts'
import { paint } from '../paint.ts'
import { count, plural } from '../table.ts'

const WIDTH = 16

export function findingText({ about, state, what, todo }: Finding): string {
  const hint = todo === undefined ? '' : `${' '.repeat(WIDTH + 2)}${paint.cyan(safe(todo))}\n`
  return `${markOf(state)} ${about.padEnd(WIDTH)}${safe(what)}\n${hint}`
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
