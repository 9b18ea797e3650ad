/** `fumi doctor`: runs the health checks and prints what to do. */
import type { Command } from 'commander'
import stringWidth from 'string-width'
import { type DoctorFinding, SUBJECT_LABELS } from '../../app.ts'
import { toPrintableField } from '../../lib/text.ts'
import { defineCommand, JSON_OPTION } from '../define-command.ts'
import { localize, say } from '../language.ts'
import { createApp } from '../open-app.ts'
import { writeOut, writeOutJson } from '../output.ts'
import { paint } from '../view/paint.ts'
import { formatCount, plural } from '../view/table.ts'
import { readingWidth } from '../view/text-width.ts'
import { wrapText } from '../view/wrap-text.ts'

interface Options {
  readonly json?: boolean
}

/** Exit code when there is a problem. */
const EXIT_PROBLEMS = 1

export function doctorCommand(program: Command): void {
  defineCommand(program, 'doctor', 'check the installation and suggest fixes', '問題がないか調べ、対処を示す')
    .option(...JSON_OPTION)
    .examples('fumi doctor', 'fumi doctor --json | jq .findings')
    .run(run)
}

async function run(options: Options): Promise<void> {
  const app = createApp()
  const findings: DoctorFinding[] = []
  try {
    for await (const finding of app.examine()) {
      findings.push(finding)
      if (!options.json && !isAbsent(finding)) await writeOut(renderFinding(finding))
    }
  } finally {
    app.close()
  }
  const problems = findings.filter(({ state }) => state === 'problem').length
  if (options.json) await writeOutJson({ ok: problems === 0, findings: findings.map(toEnglishFinding) })
  else {
    const isEmpty = findings.some(({ about, facts }) => about === 'agents' && facts['logs'] === 0)
    await writeOut(`${renderAbsent(findings, isEmpty)}${renderVerdict(problems, isEmpty)}`)
  }
  if (problems > 0) process.exitCode = EXIT_PROBLEMS
}

/** A default folder of an agent that does not exist. */
const isAbsent = ({ state, facts }: DoctorFinding): boolean => state === 'note' && facts['exists'] === false

/** The folders themselves only where nothing was found at all; otherwise the agents that are not here, on one line. */
function renderAbsent(findings: readonly DoctorFinding[], isEmpty: boolean): string {
  const absent = findings.filter(isAbsent)
  if (isEmpty) return absent.map(renderFinding).join('')
  const present = new Set(findings.filter((one) => !isAbsent(one)).map(({ about }) => about))
  const names = [...new Set(absent.map(({ about }) => about))].filter((name) => !present.has(name))
  if (names.length === 0) return ''
  const what = {
    en: `nothing of ${names.join(', ')}; fumi doctor --json lists where fumi looked`,
    ja: `${names.join('、')} の会話はありません。探した場所は fumi doctor --json で分かります`,
  }
  return renderFinding({ about: 'agents', state: 'note', what, facts: {} })
}

/** JSON output is always English. */
const toEnglishFinding = (finding: DoctorFinding): object => ({
  ...finding,
  what: finding.what.en,
  ...(finding.todo && { todo: finding.todo.en }),
})

const NAME_WIDTH = 16

function renderFinding({ about, state, what, todo }: DoctorFinding): string {
  const indent = ' '.repeat(NAME_WIDTH + 2)
  const wrap = (text: string): string => wrapText(toPrintableField(text), readingWidth(), indent)
  const hint = todo === undefined ? '' : wrap(localize(todo)).replace(/\S.*/g, (line) => paint.cyan(line))
  const name = SUBJECT_LABELS[about] ? localize(SUBJECT_LABELS[about]) : about
  const pad = ' '.repeat(Math.max(0, NAME_WIDTH - stringWidth(name)))
  return `${STATE_SIGNS[state]} ${name}${pad}${wrap(localize(what)).slice(indent.length)}${hint}`
}

const STATE_SIGNS: { readonly [state in DoctorFinding['state']]: string } = {
  ok: paint.green('✓'),
  note: paint.yellow('·'),
  problem: paint.red('✗'),
}

const renderVerdict = (problems: number, isEmpty: boolean): string =>
  problems === 0
    ? isEmpty
      ? say('\nNo problems found, and no conversations.\n', '\n問題はありませんが、会話も見つかりません。\n')
      : say('\nNo problems found.\n', '\n問題ありません。\n')
    : say(`\n${paint.bold(plural(problems, 'problem'))}.\n`, `\n${paint.bold(`問題 ${formatCount(problems)} 件`)}\n`)
