/** Puts a journal where `fumi chat` finds it: beside the other conversations, under its id. */
import { closeSync, existsSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { readEvent } from '../../conversation/journal/codec.ts'
import { journalName } from '../../conversation/journal/file-name.ts'
import { readNow } from '../../lib/bytes.ts'
import { lockFile } from '../../lib/disk/file-lock.ts'
import { placeFile } from '../../lib/disk/place-file.ts'
import { statOf } from '../../lib/files/look.ts'
import { openRegular } from '../../lib/files/regular-file.ts'
import { writeError } from '../../lib/files/write-error.ts'
import { AppError } from '../../model/error.ts'
import type { DeliverOptions, Delivery } from '../agent.ts'
import { AGENT_ID, roots } from './find.ts'

/** A conversation that is there already is never replaced. */
export async function deliver(file: string, { environment, isDry }: DeliverOptions): Promise<Delivery> {
  const folder = roots(environment)[0] ?? ''
  const id = idIn(file)
  const path = join(folder, journalName(id))
  refuse(path, id)
  const delivery = { source: { agent: AGENT_ID, path, root: folder }, isReplacement: false, repairs: [], warnings: [] }
  if (isDry) return { ...delivery, undo: async () => {} }
  const print = locked(path, () => {
    refuse(path, id)
    placeFile(file, path)
    return printOf(path)
  })
  return { ...delivery, undo: async () => locked(path, () => takeBack(path, print)) }
}

function refuse(path: string, id: string): void {
  if (existsSync(path))
    throw new AppError(
      'bad_usage',
      `it is there already: ${path}. Go on with that one: fumi chat --resume ${id}`,
      `すでにあります: ${path}。その会話を続けてください: fumi chat --resume ${id}`,
    )
}

function takeBack(path: string, print: string): void {
  if (printOf(path) !== print)
    throw new AppError(
      'busy',
      `${path} was written by another program meanwhile, so it stays as it is.`,
      `${path} はその間に別のプログラムが書き換えたため、そのままにしました。`,
    )
  rmSync(path)
}

function printOf(path: string): string {
  const found = statOf(path)
  return found ? `${found.size}:${found.mtimeMs}:${found.ino}` : ''
}

/** Nobody opens or makes the conversation meanwhile. */
function locked<T>(path: string, work: () => T): T {
  try {
    const lock = lockFile(path.replace(/\.jsonl$/, '.lock'))
    if (!lock)
      throw new AppError(
        'busy',
        `another process has this conversation open: ${path}.`,
        `この会話は別のプロセスが開いています: ${path}`,
      )
    try {
      return work()
    } finally {
      lock.release()
    }
  } catch (error) {
    throw writeError(path, error)
  }
}

/** A header may hold the header of the session that it continues. */
const LONGEST = 1 << 20

function idIn(file: string): string {
  const fd = openRegular(file)
  try {
    const text = readNow(fd, 0, LONGEST).toString()
    const read = readEvent(text.split('\n', 1)[0] ?? '')
    if (read.ok && read.event.event === 'opened') return read.event.conversation_id
  } finally {
    closeSync(fd)
  }
  throw new AppError(
    'nothing_readable',
    `${file} does not begin as a journal does.`,
    `${file} の先頭がジャーナルの形をしていません。`,
  )
}
