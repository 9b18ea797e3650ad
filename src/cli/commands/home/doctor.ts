/** `fumi doctor`: is everything well, and if not, what to do. */
import type { Command } from 'commander'
import type { Finding } from '../../../app.ts'
import { quietHouse } from '../../house.ts'
import { say } from '../../language.ts'
import { writeJson, writeOut } from '../../output.ts'
import { examples } from '../../run/examples.ts'

interface Options {
  readonly json?: boolean
}

/** Exit code when there is a problem. */
const UNWELL = 1

export function doctorCommand(program: Command): void {
  program
    .command('doctor')
    .summary(
      say('look at everything that could be wrong, and say what to do', '問題がないかひととおり調べ、対処を示す'),
    )
    .option('--json', say('print JSON', 'JSON で出力'))
    .addHelpText('after', examples('fumi doctor', 'fumi doctor --json | jq .findings'))
    .action(run)
}

async function run(options: Options): Promise<void> {
  const house = quietHouse()
  const view = options.json ? undefined : await import('../../view/home/doctor-report.ts')
  const findings: Finding[] = []
  try {
    for await (const finding of house.examine()) {
      findings.push(finding)
      if (view) await writeOut(view.findingText(finding))
    }
  } finally {
    house.close()
  }
  const problems = findings.filter(({ state }) => state === 'problem').length
  if (view) await writeOut(view.verdict(problems))
  else await writeJson({ ok: problems === 0, findings: findings.map(inEnglish) })
  if (problems > 0) process.exitCode = UNWELL
}

/** What programs read is the same in every language. */
const inEnglish = (finding: Finding): object => ({
  ...finding,
  what: finding.what.en,
  ...(finding.todo && { todo: finding.todo.en }),
})
