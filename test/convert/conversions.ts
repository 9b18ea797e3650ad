/** Converts conversations between agents, as files in a temporary folder. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Agent, Source } from '../../src/agents/agent.ts'
import { agentServing } from '../../src/agents/agent-roots.ts'
import { allAgents } from '../../src/agents/load-agents.ts'
import { type ConversionSource, type ConvertOptions, convert, type Piece } from '../../src/convert/convert.ts'
import type { Report } from '../../src/convert/loss-report.ts'
import type { NormalizedMessage } from '../../src/model/normalized.ts'
import { extensionOf } from '../../src/model/replay/extension.ts'
import { onCleanup } from '../support/cleanup.ts'
import { tempFolder } from '../support/codex-log.ts'

let folder: string | undefined
let files = 0

function newPath(suffix: string): string {
  if (folder === undefined) {
    folder = tempFolder()
    onCleanup(() => {
      folder = undefined
    })
  }
  return join(folder, `${++files}${suffix}`)
}

export const agentOf = async (id: string): Promise<Agent> => agentServing(id, await allAgents())

export interface ConvertedFile extends ConversionSource {
  readonly path: string
  readonly report: Report
  readonly sidecars: readonly Extract<Piece, { kind: 'sidecar' }>[]
}

/**
 * Converts to a file of another agent.
 * @param to an agent, or one of its forms
 */
export async function convertTo(
  from: ConversionSource,
  to: string,
  more: Partial<ConvertOptions> = {},
): Promise<ConvertedFile> {
  const isForm = ({ name }: { readonly name: string }): boolean => name === to
  const agent = (await allAgents()).find(({ forms }) => forms?.some(isForm)) ?? (await agentOf(to))
  let ids = 0
  const newId = (): string => `00000000-0000-4000-8000-${String(++ids).padStart(12, '0')}`
  const conversion = await convert(from, { agent, form: to }, { now: () => new Date(0), newId, ...more })
  const bytes: Uint8Array[] = []
  const sidecars: Extract<Piece, { kind: 'sidecar' }>[] = []
  for await (const piece of conversion.pieces)
    if (piece.kind === 'bytes') bytes.push(piece.bytes)
    else sidecars.push(piece)
  const path = newPath(agent.forms?.find(isForm)?.suffix ?? '.jsonl')
  writeFileSync(path, Buffer.concat(bytes))
  return { agent, source: await sourceAt(agent, path), path, report: conversion.report(), sidecars }
}

export async function writeSourceFile(
  id: string,
  text: string,
  suffix = '.json',
): Promise<ConversionSource & { readonly path: string }> {
  const path = newPath(suffix)
  writeFileSync(path, text)
  const agent = await agentOf(id)
  return { agent, source: await sourceAt(agent, path), path }
}

export async function sourceAt(agent: Agent, path: string): Promise<Source> {
  for await (const source of agent.find(path)) return source
  throw new Error(`${agent.id} finds nothing at ${path}`)
}

export async function messagesOf({ agent, source, session }: ConversionSource): Promise<readonly NormalizedMessage[]> {
  const found: NormalizedMessage[] = []
  let wanted = session
  for await (const batch of agent.read(source, { includeSource: true }))
    for (const one of batch) {
      if (one.kind !== 'message') continue
      wanted ??= one.message.raw.session_id
      if (one.message.raw.session_id === wanted) found.push(one.message)
    }
  return found
}

/** The records of a source, as its messages carry them. */
export const recordsOf = async (from: ConversionSource): Promise<readonly unknown[]> =>
  (await messagesOf(from)).flatMap((message) => extensionOf(message)?.records ?? [])
