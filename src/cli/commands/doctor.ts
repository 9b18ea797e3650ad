/** `fumi doctor`: is everything well, and if not, what to do. */
import type { Command } from 'commander'
import type { DoctorFinding } from '../../app.ts'
import { formatExamples } from '../help/examples.ts'
import { say } from '../language.ts'
import { createApp } from '../open-app.ts'
import { writeOut, writeOutJson } from '../output.ts'

interface Options {
  readonly json?: boolean
}

/** Exit code when there is a problem. */
const EXIT_PROBLEMS = 1

export function doctorCommand(program: Command): void {
  program
    .command('doctor')
    .summary(
      say('look at everything that could be wrong, and say what to do', '問題がないかひととおり調べ、対処を示す'),
    )
    .option('--json', say('print JSON', 'JSON で出力'))
    .addHelpText('after', formatExamples('fumi doctor', 'fumi doctor --json | jq .findings'))
    .action(run)
}

async function run(options: Options): Promise<void> {
  const app = createApp()
  const view = options.json ? undefined : await import('../view/doctor-report.ts')
  const findings: DoctorFinding[] = []
  try {
    for await (const finding of app.examine()) {
      findings.push(finding)
      if (view) await writeOut(view.renderFinding(finding))
    }
  } finally {
    app.close()
  }
  const problems = findings.filter(({ state }) => state === 'problem').length
  if (view) await writeOut(view.renderVerdict(problems))
  else await writeOutJson({ ok: problems === 0, findings: findings.map(toEnglishFinding) })
  if (problems > 0) process.exitCode = EXIT_PROBLEMS
}

/** What programs read is the same in every language. */
const toEnglishFinding = (finding: DoctorFinding): object => ({
  ...finding,
  what: finding.what.en,
  ...(finding.todo && { todo: finding.todo.en }),
})
