/** One conversation there and back again, and what must hold of it. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Agent, Source, WrittenForm } from '../../src/agents/agent.ts'
import type { Report } from '../../src/convert/ledger.ts'
import { SIDECAR_END, SIDECAR_START, sidecarLine, sidecarOf } from '../../src/convert/sidecar.ts'
import { convertLog } from '../../src/convert.ts'
import { comparedOf, isNative, recordsIn } from './equal.ts'
import { saidIn } from './said.ts'

export interface Conversation {
  readonly agent: Agent
  readonly source: Source
  readonly session: string
}

export interface Written {
  readonly agent: Agent
  readonly source: Source
  readonly form: WrittenForm
  readonly report: Report
}

/** Writes into a folder that the caller empties. */
export async function written(
  { agent, source, session }: Conversation,
  to: Agent,
  form: WrittenForm,
  folder: string,
  name: string,
  withoutExtensions = false,
): Promise<Written> {
  const path = join(folder, `${name}${form.suffix}`)
  const conversion = await convertLog({ agent, source, session }, form.name, { withoutExtensions, hasSidecar: true })
  const bytes: Uint8Array[] = []
  const parts: string[] = []
  for await (const piece of conversion.pieces) {
    if (piece.kind === 'bytes') bytes.push(piece.bytes)
    else parts.push(sidecarLine(piece, parts.length === 0))
  }
  writeFileSync(path, Buffer.concat(bytes))
  writeFileSync(sidecarOf(path), parts.length > 0 ? [SIDECAR_START, ...parts, SIDECAR_END].join('') : '')
  return { agent: to, source: { agent: to.id, path }, form, report: conversion.report() }
}

export interface Verdict {
  /** With extensions: what counts came back to the letter. Nothing where the source is none that its agent wrote. */
  readonly isExact: boolean | undefined
  /** Without extensions: the same texts, and the same results of the same calls. */
  readonly isSaid: boolean
  /** Everything that is missing is in the report. */
  readonly isReported: boolean
}

/** @param home the form in which the conversation's own agent writes */
export async function trip(
  from: Conversation,
  to: Agent,
  form: WrittenForm,
  home: WrittenForm | undefined,
  folder: string,
): Promise<Verdict> {
  const before = await recordsIn(from.agent, from.source, from.session)
  const there = await written(from, to, form, folder, 'there')
  const bare = await written(from, to, form, folder, 'bare', true)
  return {
    isExact: home && isNative(from.agent, before) ? await comesBack(from, before, there, home, folder) : undefined,
    isSaid: await saysTheSame(from, bare),
    isReported: isKept(there.report) && isAccounted(bare.report),
  }
}

async function comesBack(
  { agent }: Conversation,
  before: readonly unknown[],
  there: Written,
  home: WrittenForm,
  folder: string,
): Promise<boolean | undefined> {
  const session = await sessionIn(there)
  // An example for fine-tuning without any answer holds nothing.
  if (session === undefined && home.name !== there.form.name && there.agent.forms?.[0] !== there.form) return undefined
  if (session === undefined) return false
  const again = { agent: there.agent, source: there.source, session }
  const back = await written(again, agent, home, folder, 'back')
  const compared = comparedOf(agent)
  const after = await recordsIn(agent, back.source, undefined)
  return JSON.stringify(compared(after)) === JSON.stringify(compared(before))
}

async function sessionIn({ agent, source }: Written): Promise<string | undefined> {
  for await (const batch of agent.read(source))
    for (const one of batch) if (one.kind === 'session') return one.session.id
  return undefined
}

const isCut = ({ repairs }: Report): boolean => repairs.some(({ what }) => what.includes('left out'))

async function saysTheSame(from: Conversation, { agent, source, report }: Written): Promise<boolean> {
  const wanted = await saidIn(from.agent, from.source, from.session)
  const found = await saidIn(agent, source, undefined)
  const same = (a: readonly string[], b: readonly string[]): boolean =>
    isCut(report) ? a.length >= b.length : JSON.stringify(a) === JSON.stringify(b)
  return same(wanted.texts, found.texts) && same(wanted.calls, found.calls)
}

const isKept = ({ losses }: Report): boolean => losses.every(({ kept_in }) => kept_in !== null)

/** The account balances; what is gone is named. */
const isAccounted = ({ losses }: Report): boolean => losses.every(({ path }) => path !== 'records')
