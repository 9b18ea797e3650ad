/** A conversion as files, before anything is put anywhere. */
import { closeSync, openSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import type { Agent } from '../../agents/agent.ts'
import type { Conversion } from '../convert.ts'
import { SIDECAR_END, SIDECAR_START, sidecarLine, sidecarOf } from '../sidecar/sidecar-format.ts'

export interface SavedConversion {
  readonly path: string
  /** What its owner would drop; nothing where there is none. */
  readonly sidecar: string | undefined
}

/** @param folder one that is the caller's own */
export async function saveToFolder(folder: string, agent: Agent, { pieces }: Conversion): Promise<SavedConversion> {
  const path = join(folder, `conversation${agent.forms?.[0]?.suffix ?? ''}`)
  const sidecarPath = sidecarOf(path)
  const output = openSync(path, 'wx', 0o600)
  const parts = openSync(sidecarPath, 'wx', 0o600)
  let count = 0
  try {
    for await (const piece of pieces) {
      if (piece.kind === 'bytes') writeAll(output, piece.bytes)
      else writeAll(parts, Buffer.from(`${count === 0 ? SIDECAR_START : ''}${sidecarLine(piece, count++ === 0)}`))
    }
    if (count > 0) writeAll(parts, Buffer.from(SIDECAR_END))
  } finally {
    closeSync(output)
    closeSync(parts)
  }
  return { path, sidecar: count > 0 ? sidecarPath : undefined }
}

function writeAll(fd: number, bytes: Uint8Array): void {
  for (let done = 0; done < bytes.length; ) done += writeSync(fd, bytes, done)
}
