/** Puts a journal where `fumi chat` finds it: in the folder of conversations, under its id. */

import { closeSync, existsSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { readEvent } from '../../conversation/journal/event.ts'
import { journalName } from '../../conversation/journal/journal-name.ts'
import { copyFileAtomically } from '../../lib/files/atomic-file.ts'
import { readRange } from '../../lib/files/file-bytes.ts'
import { openRegularFile } from '../../lib/files/regular-file.ts'
import { tryLockFile } from '../../lib/sqlite/locks.ts'
import { AppError } from '../../model/error.ts'
import type { DeliverOptions, Delivery } from '../agent.ts'
import { assertUnchanged, fileFingerprint, withWriteErrors } from '../kit/source-file.ts'
import { AGENT_ID, roots } from './find.ts'

/** Never replaces an existing conversation. */
export async function deliver(file: string, { environment, isDry }: DeliverOptions): Promise<Delivery> {
  const folder = roots(environment)[0] ?? ''
  const id = readConversationId(file)
  const path = join(folder, journalName(id))
  assertAbsent(path, id)
  const delivery = { source: { agent: AGENT_ID, path, root: folder }, isReplacement: false, repairs: [], warnings: [] }
  if (isDry) return { ...delivery, undo: async () => {} }
  const fingerprint = withLock(path, () => {
    assertAbsent(path, id)
    copyFileAtomically(file, path)
    return fileFingerprint(path)
  })
  return { ...delivery, undo: () => removeDelivered(path, fingerprint) }
}

function assertAbsent(path: string, id: string): void {
  if (existsSync(path))
    throw new AppError(
      'bad_usage',
      `The conversation already exists: ${path}. Continue it with fumi chat --resume ${id}`,
      `すでにあります: ${path}。その会話を続けてください: fumi chat --resume ${id}`,
    )
}

async function removeDelivered(path: string, fingerprint: string): Promise<void> {
  withLock(path, () => {
    assertUnchanged(path, fingerprint)
    rmSync(path)
  })
}

/** Keeps other processes from opening or creating the conversation. */
function withLock<T>(path: string, work: () => T): T {
  return withWriteErrors(path, () => {
    const lock = tryLockFile(path.replace(/\.jsonl$/, '.lock'))
    if (!lock)
      throw new AppError(
        'busy',
        `Another process has this conversation open: ${path}.`,
        `この会話は別のプロセスが開いています: ${path}`,
      )
    try {
      return work()
    } finally {
      lock.release()
    }
  })
}

/** The header may contain the header of the session that it continues. */
const MAX_HEADER_BYTES = 1 << 20

function readConversationId(file: string): string {
  const fd = openRegularFile(file)
  try {
    const text = readRange(fd, 0, MAX_HEADER_BYTES).toString()
    const read = readEvent(text.split('\n', 1)[0] ?? '')
    if (read.ok && read.event.event === 'opened') return read.event.conversation_id
  } finally {
    closeSync(fd)
  }
  throw new AppError(
    'nothing_readable',
    `${file} does not start like a journal.`,
    `${file} の先頭がジャーナルの形をしていません。`,
  )
}
