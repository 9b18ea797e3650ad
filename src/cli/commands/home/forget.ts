/** `fumi forget`: a session that is not wanted leaves the index and the keep. */
import { createInterface } from 'node:readline/promises'
import type { Command } from 'commander'
import type { House } from '../../../app.ts'
import { AppError } from '../../../model/error.ts'
import type { SessionId } from '../../../model/ids.ts'
import { openHouse } from '../../house.ts'
import { writeOut } from '../../output.ts'
import { findSession } from '../../sessions.ts'

interface Options {
  readonly yes?: boolean
  readonly undo?: boolean
  readonly list?: boolean
  readonly json?: boolean
}

export function forgetCommand(program: Command): void {
  program
    .command('forget')
    .summary('take a session out of the index and the keep; its source is not touched')
    .argument('[session]', 'its id as fumi list shows it, or the beginning of it')
    .option('--yes', 'do not ask')
    .option('--undo', 'let a session that was forgotten be found again; what was kept of it is gone')
    .option('--list', 'tell what was forgotten')
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      '\nExamples:\n  fumi forget codex:019c22d1\n  fumi forget --list\n  fumi forget codex:019c22d1 --undo',
    )
    .action(run)
}

async function run(name: string | undefined, options: Options): Promise<void> {
  const house = await openHouse()
  try {
    if (options.list) return await tellForgotten(house, options)
    if (name === undefined) throw new AppError('bad_usage', 'say which session: fumi forget <session>, or --list.')
    if (options.undo) await undo(house, name, options)
    else await forget(house, name, options)
  } finally {
    house.close()
  }
}

async function forget(house: House, name: string, options: Options): Promise<void> {
  const { session, kept } = await findSession(house, name)
  const { id, path } = session
  const isOnlyHere = kept !== undefined || house.session(id)?.gone === true
  const loss = isOnlyHere ? 'Nothing else has it: it will be gone for good.' : `${path} is not touched.`
  if (!options.yes && !(await isSure(`Forget ${id}? ${loss}`)))
    throw new AppError('bad_usage', `${id} was not forgotten. Say --yes to be asked nothing.`)
  await house.forget(id)
  await writeOut(options.json ? `${JSON.stringify({ forgotten: id })}\n` : `${id} is forgotten. ${loss}\n`)
}

/** Nobody can answer in a pipe: then it is no. */
async function isSure(question: string): Promise<boolean> {
  if (!process.stdin.isTTY) return false
  const lines = createInterface({ input: process.stdin, output: process.stderr })
  try {
    return /^y(es)?$/i.test((await lines.question(`${question} [y/N] `)).trim())
  } finally {
    lines.close()
  }
}

async function undo(house: House, name: string, options: Options): Promise<void> {
  const found = house.keep.forgotten().filter(({ session }) => session === name || session.startsWith(name))
  const [only, ...more] = found
  if (!only) throw new AppError('not_found', `no session ${name} was forgotten. See fumi forget --list.`)
  if (more.length > 0)
    throw new AppError('bad_usage', `several were forgotten that begin with ${name}. Give more of it.`)
  house.keep.remember(only.session as SessionId)
  await writeOut(
    options.json ? `${JSON.stringify({ remembered: only.session })}\n` : `${only.session} may be found again.\n`,
  )
}

async function tellForgotten(house: House, options: Options): Promise<void> {
  const forgotten = house.keep.forgotten().map(({ session, at }) => ({ session, at }))
  if (options.json) await writeOut(`${JSON.stringify({ forgotten })}\n`)
  else
    await writeOut(
      forgotten.length === 0 ? 'None.\n' : forgotten.map(({ session, at }) => `${at}  ${session}\n`).join(''),
    )
}
