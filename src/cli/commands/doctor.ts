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
      if (!options.json) await writeOut(renderFinding(finding))
    }
  } finally {
    app.close()
  }
  const problems = findings.filter(({ state }) => state === 'problem').length
  if (options.json) await writeOutJson({ ok: problems === 0, findings: findings.map(toEnglishFinding) })
  else
    await writeOut(
      renderVerdict(
        problems,
        findings.some(({ about, facts }) => about === 'agents' && facts['logs'] === 0),
      ),
    )
  if (problems > 0) process.exitCode = EXIT_PROBLEMS
}

/** JSON output is always English. */
const toEnglishFinding = (finding: DoctorFinding): object => ({
  ...finding,
  what: finding.what.en,
  ...(finding.todo && { todo: finding.todo.en }),
})

const NAME_WIDTH = 16

function renderFinding({ about, state, what, todo }: DoctorFinding): string {
  const hint =
    todo === undefined ? '' : `${' '.repeat(NAME_WIDTH + 2)}${paint.cyan(toPrintableField(localize(todo)))}\n`
  const name = SUBJECT_LABELS[about] ? localize(SUBJECT_LABELS[about]) : about
  const pad = ' '.repeat(Math.max(0, NAME_WIDTH - stringWidth(name)))
  return `${STATE_SIGNS[state]} ${name}${pad}${toPrintableField(localize(what))}\n${hint}`
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
