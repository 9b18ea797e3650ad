/** What the target's own checker says of an output. */
import { readFileSync } from 'node:fs'
import type { WrittenForm } from '../../src/agents/agent.ts'
import { type CheckTarget, checkTargetFile } from '../../src/convert/check/check-target.ts'
import { fieldsOf, parseStructure } from '../../src/lib/unknown-values.ts'
import type { ProfileName } from '../../src/openai/profile.ts'

/** Rules that were broken, once for each finding. */
export interface CheckResult {
  readonly errors: readonly string[]
  readonly warnings: readonly string[]
}

interface Checker {
  readonly target: CheckTarget
  readonly profile?: ProfileName
}

/** By the name of the form. Nobody checks messages of our own. */
const CHECKERS: { readonly [form: string]: Checker } = {
  'amazon-q': { target: 'amazon-q' },
  kiro: { target: 'amazon-q' },
  codex: { target: 'codex' },
  openai: { target: 'openai', profile: 'openai' },
  sft: { target: 'openai', profile: 'fine-tune' },
}

export const checkerOf = ({ name }: WrittenForm): Checker | undefined => CHECKERS[name]

export const checkOutput = ({ target, profile }: Checker, path: string): Promise<CheckResult> =>
  findingsIn(target, readFileSync(path), profile)

/**
 * What is wrong in an agent's own file. A line of Codex without its time is refused whole, and nothing that it holds is
 * looked at: so it is given one, as every writer does, and looked at again.
 */
export async function faultsAt({ target }: Checker, path: string): Promise<ReadonlySet<string>> {
  const bytes = readFileSync(path)
  const { errors } = await findingsIn(target, bytes)
  if (target !== 'codex' || !errors.includes('envelope')) return new Set(errors)
  const repaired = await findingsIn(target, Buffer.from(bytes.toString().split('\n').map(withTime).join('\n')))
  return new Set([...errors, ...repaired.errors])
}

function withTime(line: string): string {
  const record = fieldsOf(parseStructure(line))
  return record && 'payload' in record && typeof record['timestamp'] !== 'string'
    ? JSON.stringify({ ...record, timestamp: '2026-01-02T03:04:05.000Z' })
    : line
}

async function findingsIn(target: CheckTarget, bytes: Buffer, profile?: ProfileName): Promise<CheckResult> {
  const errors: string[] = []
  const warnings: string[] = []
  async function* open(): AsyncGenerator<Buffer> {
    yield bytes
  }
  // An example for fine-tuning without any answer holds nothing.
  if (bytes.length === 0) return { errors, warnings }
  for await (const { rule, severity } of checkTargetFile(target, open, profile && { profile }))
    (severity === 'error' ? errors : warnings).push(rule)
  return { errors, warnings }
}
