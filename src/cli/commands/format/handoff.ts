/** `fumi handoff`: a conversation goes on in another agent's program. */
import { resolve } from 'node:path'
import type { Command } from 'commander'
import { shellLine } from '../../../agents/resume-command.ts'
import { type HandedOver, handOver, targetsOfHandoff } from '../../../convert.ts'
import { AppError } from '../../../model/error.ts'
import { logNamed } from '../../choose.ts'
import { cutLine, tokensOf } from '../../convert/cut.ts'
import { saveReport } from '../../convert/save-report.ts'
import { openHouse } from '../../house.ts'
import { writeErr, writeOut } from '../../output.ts'

interface Options {
  readonly to: string
  readonly cwd?: string
  readonly maxTokens?: number
  readonly report?: string
  readonly dryRun?: boolean
  readonly replace?: boolean
  readonly in?: string
  readonly session?: string
  readonly json?: boolean
}

export function handoffCommand(program: Command): void {
  program
    .command('handoff')
    .summary("go on with a session in another agent's program")
    .argument('<session>', 'a session as fumi list names it, or a log file')
    .requiredOption('--to <agent>', 'codex, amazon-q, kiro …; an unknown one lists all')
    .option('--max-tokens <n>', 'for a smaller window: the last turns, and a summary of facts for the others', tokensOf)
    .option('--cwd <directory>', "where to go on; otherwise the session's own directory")
    .option('--report <file>', 'what was lost, where it is kept, and what was mended, as JSON')
    .option('--dry-run', 'convert and compare, but write nothing into the other store')
    .option('--replace', 'put it in the place of an older conversation, which is kept first')
    .option('--in <path>', 'look for the session in this database, file or folder')
    .option('--session <which>', 'one of several conversations in a file: its number, or its id')
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      '\nExamples:\n  fumi handoff codex:019c22d1 --to amazon-q\n  fumi handoff amazon-q:1b4e28ba --to codex --cwd ~/src/app --dry-run\n\nA newer conversation is never replaced. When the other program would read something else than was said here, all is taken back.',
    )
    .action(run)
}

async function run(name: string, options: Options): Promise<void> {
  const targets = await targetsOfHandoff()
  if (!targets.includes(options.to))
    throw new AppError('bad_usage', `nothing can be given to ${options.to}. Known: ${targets.join(', ')}.`)
  const house = await openHouse()
  try {
    const { log, id, release } = await logNamed(house, name, options)
    try {
      const { environment, directory, keep } = house
      const done = await handOver({ agent: log.agent, source: log.source, session: id }, options.to, {
        environment,
        directory,
        keep,
        isDry: options.dryRun === true,
        mayReplace: options.replace === true,
        ...(options.cwd !== undefined && { cwd: resolve(options.cwd) }),
        ...(options.maxTokens !== undefined && { maxTokens: options.maxTokens }),
      })
      await tell(done, options)
      if (options.report !== undefined) await saveReport(options.report, done.report)
    } finally {
      await release()
    }
  } finally {
    house.close()
  }
}

async function tell(done: HandedOver, options: Options): Promise<void> {
  const { session, source, isDry, isReplacement, backup, resume, exchanges, cut, report, repairs, warnings } = done
  if (options.json) {
    const { path } = source
    const told = { session: session.id, path, isDry, isReplacement, backup, resume, exchanges, cut, repairs }
    await writeOut(`${JSON.stringify({ ...told, warnings: warnings.map(({ what }) => what), report })}\n`)
    return
  }
  const { renderReport } = await import('../../convert/report.ts')
  await writeErr(renderReport(report))
  if (cut) await writeErr(cutLine(cut))
  for (const repair of repairs) await writeErr(`mended ${repair}\n`)
  for (const { what } of warnings) await writeErr(`fumi: ${what}\n`)
  const what = `${session.id}, ${exchanges} exchanges, ${isDry ? 'would be' : 'is'} in ${source.path}`
  await writeOut(`${what}\n`)
  if (isReplacement && isDry) await writeOut('An older conversation would be replaced, and kept.\n')
  if (backup !== undefined) await writeOut(`What stood there is kept, and also in ${backup}\n`)
  if (resume && !isDry) await writeOut(`Go on with: ${shellLine(resume)}\n`)
}
