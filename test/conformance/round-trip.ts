/** Converts one conversation and back, and checks the laws. */
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Agent, Source, WrittenForm } from '../../src/agents/agent.ts'
import type { Report } from '../../src/convert/loss-report.ts'
import { SIDECAR_END, SIDECAR_START, sidecarLine, sidecarOf } from '../../src/convert/sidecar.ts'
import { convertLog } from '../../src/convert.ts'
import { type CheckResult, checkerOf, checkOutput, faultsAt } from './check-output.ts'
import { differences, isCut, readContent } from './compare-content.ts'
import { isNative, recordsIn, selectRecordsFor, withoutMadeParents } from './compare-records.ts'
import { bytesToReturn } from './same-bytes.ts'

export interface Conversation {
  readonly agent: Agent
  readonly source: Source
  readonly session: string
}

export interface WrittenOutput {
  readonly agent: Agent
  readonly source: Source
  readonly form: WrittenForm
  readonly report: Report
}

/** Writes to a folder that the caller empties. */
export async function writeAs(
  { agent, source, session }: Conversation,
  to: Agent,
  form: WrittenForm,
  folder: string,
  name: string,
  more: { readonly withoutExtensions?: boolean; readonly profile?: string } = {},
): Promise<WrittenOutput> {
  const path = join(folder, `${name}${form.suffix}`)
  const conversion = await convertLog({ agent, source, session }, form.name, { ...more, hasSidecar: true })
  const bytes: Uint8Array[] = []
  const parts: string[] = []
  for await (const piece of conversion.pieces) {
    if (piece.kind === 'bytes') bytes.push(piece.bytes)
    else parts.push(sidecarLine(piece, parts.length === 0))
  }
  // Some file systems flush a file that is truncated and rewritten.
  rmSync(path, { force: true })
  writeFileSync(path, Buffer.concat(bytes))
  writeFileSync(sidecarOf(path), parts.length > 0 ? [SIDECAR_START, ...parts, SIDECAR_END].join('') : '')
  return { agent: to, source: { agent: to.id, path }, form, report: conversion.report() }
}

export interface Verdict {
  /**
   * With extensions: the relevant records are identical after the round trip. Undefined if the source was not written
   * by its agent.
   */
  readonly isExact: boolean | undefined
  /** With extensions: the file is the same, byte for byte. Undefined if its agent did not write it so. */
  readonly isIdentical: boolean | undefined
  /** Without extensions: same texts, and same results of the same calls. */
  readonly isSaid: boolean
  /** The report lists everything that is missing. */
  readonly isReported: boolean
  /** Result of the target's checker; undefined if there is none. */
  readonly target: RoundTripChecks | undefined
}

export interface RoundTripChecks {
  /** Rules that the output violates. */
  readonly errors: readonly string[]
  /** Rules that the original file violated, if its records came back unchanged. */
  readonly own: readonly string[]
  readonly warnings: number
}

/** @param home the form that the original agent writes */
export async function roundTrip(
  from: Conversation,
  to: Agent,
  form: WrittenForm,
  home: WrittenForm | undefined,
  folder: string,
): Promise<Verdict> {
  const before = await recordsIn(from.agent, from.source, from.session)
  const there = await writeAs(from, to, form, folder, 'there')
  const bare = await writeAs(from, to, form, folder, 'bare', { withoutExtensions: true })
  const bytes = bytesToReturn(from.agent, from.source, before)
  const back = home && (bytes || isNative(from.agent, before)) ? await bringBack(from, there, home, folder) : undefined
  return {
    isExact: back && isNative(from.agent, before) ? await hasSameRecords(from, before, back) : undefined,
    isIdentical: back && bytes ? back !== 'lost' && readFileSync(back.source.path).equals(bytes) : undefined,
    isSaid: await saysTheSame(from, bare),
    isReported: isKept(there.report) && isAccounted(bare.report),
    target: await checkRoundTrip(from, to, form, folder, [there, bare]),
  }
}

/** Messages for a server are checked with its profile; everything else with and without extensions. */
async function checkRoundTrip(
  from: Conversation,
  to: Agent,
  form: WrittenForm,
  folder: string,
  [there, bare]: readonly [WrittenOutput, WrittenOutput],
): Promise<RoundTripChecks | undefined> {
  const checker = checkerOf(to, form)
  if (!checker) return undefined
  const { profile } = checker
  const outputs =
    profile === undefined
      ? [there, bare]
      : [await writeAs(from, to, form, folder, 'sent', { profile, withoutExtensions: true })]
  // Without any text there is no message to send.
  if (profile !== undefined && outputs[0] && (await isEmpty(outputs[0]))) return undefined
  const all: CheckResult[] = []
  for (const { source } of outputs) all.push(await checkOutput(checker, source.path))
  const errors = all.flatMap((one) => one.errors)
  const isVerbatim = from.agent === to && profile === undefined && errors.length > 0
  const before = isVerbatim ? await faultsAt(checker, from.source.path) : new Set()
  return {
    errors: errors.filter((rule) => !before.has(rule)),
    own: errors.filter((rule) => before.has(rule)),
    warnings: all.reduce((sum, { warnings }) => sum + warnings.length, 0),
  }
}

async function isEmpty({ agent, source }: WrittenOutput): Promise<boolean> {
  for await (const batch of agent.read(source)) for (const one of batch) if (one.kind === 'message') return false
  return true
}

/** Undefined for a fine-tuning example without an answer, which is empty. */
async function bringBack(
  { agent }: Conversation,
  there: WrittenOutput,
  home: WrittenForm,
  folder: string,
): Promise<WrittenOutput | 'lost' | undefined> {
  const session = await sessionIn(there)
  if (session === undefined && home.name !== there.form.name && there.agent.forms?.[0] !== there.form) return undefined
  if (session === undefined) return 'lost'
  return writeAs({ agent: there.agent, source: there.source, session }, agent, home, folder, 'back')
}

async function hasSameRecords(
  { agent, session }: Conversation,
  before: readonly unknown[],
  back: WrittenOutput | 'lost',
): Promise<boolean> {
  if (back === 'lost') return false
  const select = selectRecordsFor(agent)
  const hasNewId = (await sessionIn(back)) !== session
  const compared = hasNewId ? (records: readonly unknown[]) => withoutMadeParents(select(records)) : select
  const after = await recordsIn(agent, back.source, undefined)
  return JSON.stringify(compared(after)) === JSON.stringify(compared(before))
}

async function sessionIn({ agent, source }: WrittenOutput): Promise<string | undefined> {
  for await (const batch of agent.read(source))
    for (const one of batch) if (one.kind === 'session') return one.session.id
  return undefined
}

async function saysTheSame(from: Conversation, { agent, source, report }: WrittenOutput): Promise<boolean> {
  const wanted = await readContent(from.agent, from.source, from.session)
  const found = await readContent(agent, source, undefined)
  const { missing, added } = differences(wanted, found, report.repairs)
  return added.length === 0 && (missing.length === 0 || isCut(report.repairs))
}

const isKept = ({ losses }: Report): boolean => losses.every(({ kept_in }) => kept_in !== null)

/** Every record is accounted for. */
const isAccounted = ({ losses }: Report): boolean => losses.every(({ path }) => path !== 'records')
