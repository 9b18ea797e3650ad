/** `fumi restore`: a kept conversation, back to where its program finds it. */
import { closeSync, fsyncSync, openSync, writeSync } from 'node:fs'
import { resolve } from 'node:path'
import type { Command } from 'commander'
import type { House, Kept } from '../../app.ts'
import { AppError } from '../../model/error.ts'
import { openHouse } from '../house.ts'
import { writeErr, writeOut } from '../output.ts'

interface Options {
  readonly to?: string
  readonly install?: boolean
  readonly directory?: string
  readonly force?: boolean
  readonly json?: boolean
}

export function restoreCommand(program: Command): void {
  program
    .command('restore')
    .summary('give a kept conversation back: as a file to /load, or into its store')
    .argument('<session>', 'its id as fumi list shows it, or the beginning of it')
    .option('--to <file>', 'write it to this file, which /load reads; - for standard output')
    .option('--install', 'put it back into the store, in place of what is there now')
    .option('--directory <path>', 'with --install: for this directory instead of its own')
    .option('--force', 'overwrite an existing file')
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      '\nExamples:\n  fumi restore amazon-q:1b4e28ba --to talk.json      then in q chat: /load talk.json\n  fumi restore amazon-q:1b4e28ba --install          then in its directory: q chat --resume\n\nWhat --install replaces is kept first. It refuses while the program is writing.',
    )
    .action(run)
}

async function run(name: string, options: Options): Promise<void> {
  if ((options.to === undefined) === !options.install)
    throw new AppError('bad_usage', 'say where to: --to <file>, or --install for the store itself.')
  const house = await openHouse()
  try {
    const kept = keptNamed(name, house.keep.list())
    if (options.install) await install(house, kept, options)
    else await writeFile(house, kept, options.to ?? '-', options)
  } finally {
    house.close()
  }
}

async function writeFile(house: House, kept: Kept, to: string, options: Options): Promise<void> {
  const { volatile } = await house.keeper.agentOf(kept)
  const ready = volatile?.loadable(house.keep.bytes(kept.session))
  if (!ready)
    throw new AppError(
      'nothing_readable',
      `${kept.session} is kept, but its bytes are nothing that its program would load.`,
    )
  for (const repair of ready.repairs) await writeErr(`mended ${repair}\n`)
  if (to === '-') {
    await writeOut(ready.text)
    return
  }
  save(to, ready.text, options.force === true)
  if (options.json)
    await writeOut(`${JSON.stringify({ session: kept.session, file: resolve(to), repairs: ready.repairs })}\n`)
  else await writeOut(`${to} holds ${kept.session}. In the chat: /load ${to}\n`)
}

/** Never over a file that is there, unless that is wanted. */
function save(path: string, text: string, force: boolean): void {
  let fd: number
  try {
    fd = openSync(path, force ? 'w' : 'wx', 0o600)
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code
    if (code === 'EEXIST')
      throw new AppError('bad_usage', `${path} exists. Give another name, or --force to overwrite it.`)
    throw new AppError('cannot_write', `${path} cannot be written (${code}).`)
  }
  try {
    writeSync(fd, text)
    fsyncSync(fd)
  } finally {
    closeSync(fd)
  }
}

async function install(house: House, kept: Kept, options: Options): Promise<void> {
  const done = await house.keeper.install(
    kept,
    options.directory === undefined ? undefined : resolve(options.directory),
  )
  if (options.json) {
    await writeOut(`${JSON.stringify({ session: kept.session, ...done })}\n`)
    return
  }
  for (const repair of done.repairs) await writeErr(`mended ${repair}\n`)
  await writeOut(`${kept.session} is in ${done.store} again.\n`)
  if (done.backup !== undefined) await writeOut(`What stood there is kept, and also in ${done.backup}\n`)
}

const SHORTEST = 4

function keptNamed(name: string, all: readonly Kept[]): Kept {
  const exact = all.find(({ session, native_id }) => session === name || native_id === name)
  const begins = all.filter(
    ({ session, native_id }) => name.length >= SHORTEST && (session.startsWith(name) || native_id?.startsWith(name)),
  )
  const [only, ...more] = exact ? [exact] : begins
  if (!only)
    throw new AppError(
      'not_found',
      `nothing is kept under ${name}. fumi list --ended shows what is; fumi keep keeps more.`,
    )
  if (more.length > 0)
    throw new AppError('bad_usage', `${begins.length} kept sessions begin with ${name}. Give more of the id.`)
  return only
}
