/** Runs one command and turns errors into exit codes. */
import { CommanderError } from 'commander'
import { dataDirectory, thisMachine } from '../lib/files/data-directory.ts'
import { toPrintable } from '../lib/text.ts'
import { AppError, type ErrorCode, EXIT_BUG, exitCodes } from '../model/error.ts'
import { toSafeJson } from '../model/hostile-characters.ts'
import { localize, say } from './language.ts'
import { hasWritten, openOutput } from './output.ts'
import { closePager } from './pager.ts'
import { buildProgram } from './program.ts'

export async function main(): Promise<void> {
  openOutput()
  try {
    await run().catch(retryAfterIndexDamage)
  } catch (error) {
    await closePager()
    process.exitCode = reportError(error)
  }
}

async function run(): Promise<void> {
  const program = await buildProgram(process.argv[2])
  await program.parseAsync(process.argv)
  await closePager()
}

/** Reruns a command that found the index damaged, so that it rebuilds it. Not possible once something was printed. */
async function retryAfterIndexDamage(error: unknown): Promise<void> {
  if (error instanceof CommanderError || hasWritten() || !(await isCausedByDamagedIndex(error))) throw error
  await run()
}

/** Checks the complete index after an unexpected error, which may come from values that fumibako never writes. */
async function isCausedByDamagedIndex(error: unknown): Promise<boolean> {
  const { IndexDamagedError, markIndexIfDamaged } = await import('../app.ts')
  if (error instanceof IndexDamagedError) return true
  return !(error instanceof AppError) && markIndexIfDamaged(dataDirectory(thisMachine()))
}

/** Before any option is parsed: the options themselves may be the error. */
function wantsJson(): boolean {
  const end = process.argv.indexOf('--')
  return process.argv.slice(2, end < 0 ? undefined : end).includes('--json')
}

/** A script that asks for JSON gets JSON, also of an error. */
function printErrorJson(code: ErrorCode, message: string): void {
  if (wantsJson() && !hasWritten())
    process.stdout.write(`${toSafeJson(JSON.stringify({ error: { code, message } }))}\n`)
}

function reportError(error: unknown): number {
  if (error instanceof CommanderError) {
    if (error.exitCode === 0) return 0
    printErrorJson('bad_usage', error.message)
    return exitCodes.bad_usage
  }
  if (error instanceof AppError) {
    process.stderr.write(`fumi: ${toPrintable(localize(error.phrase))}\n`)
    printErrorJson(error.code, error.message)
    return exitCodes[error.code]
  }
  const what = error instanceof Error ? error.stack : String(error)
  process.stderr.write(
    `fumi: ${say('This is a bug in fumibako. Please report it.', 'fumibako の不具合です。報告してください。')}\n${toPrintable(what ?? '')}\n`,
  )
  return EXIT_BUG
}
