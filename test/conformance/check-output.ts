/** Runs the target's checker on an output. */
import { readFileSync } from 'node:fs'
import type { Agent, CheckOptions, WrittenForm } from '../../src/agents/agent.ts'
import { fieldsOf, parseStructure } from '../../src/lib/unknown-values.ts'
import type { ProfileName } from '../../src/openai/profile.ts'

/** Codes of broken rules, one per finding. */
export interface CheckResult {
  readonly errors: readonly string[]
  readonly warnings: readonly string[]
}

interface Checker {
  readonly check: NonNullable<Agent['check']>
  readonly form: string
  readonly profile?: ProfileName
}

/** Forms that are written for a server. */
const PROFILE_OF_FORM: { readonly [form: string]: ProfileName } = { openai: 'openai', sft: 'fine-tune' }

export function checkerOf({ check }: Agent, { name }: WrittenForm): Checker | undefined {
  const profile = PROFILE_OF_FORM[name]
  return check && { check, form: name, ...(profile !== undefined && { profile }) }
}

export const checkOutput = ({ check, form, profile }: Checker, path: string): Promise<CheckResult> =>
  findingsIn(check, readFileSync(path), profile === undefined ? { form } : { form, profile })

/**
 * Findings in an agent's own file. Codex rejects a line without a time before checking its content, so such lines get a
 * time, as any writer would add one, and are checked again.
 */
export async function faultsAt({ check, form }: Checker, path: string): Promise<ReadonlySet<string>> {
  const bytes = readFileSync(path)
  const { errors } = await findingsIn(check, bytes, { form })
  if (!errors.includes('envelope')) return new Set(errors)
  const repaired = await findingsIn(check, Buffer.from(bytes.toString().split('\n').map(withTime).join('\n')), { form })
  return new Set([...errors, ...repaired.errors])
}

function withTime(line: string): string {
  const record = fieldsOf(parseStructure(line))
  return record && 'payload' in record && typeof record['timestamp'] !== 'string'
    ? JSON.stringify({ ...record, timestamp: '2026-01-02T03:04:05.000Z' })
    : line
}

async function findingsIn(check: Checker['check'], bytes: Buffer, options: CheckOptions = {}): Promise<CheckResult> {
  const errors: string[] = []
  const warnings: string[] = []
  async function* open(): AsyncGenerator<Buffer> {
    yield bytes
  }
  // A fine-tuning example without an answer is empty.
  if (bytes.length === 0) return { errors, warnings }
  for await (const { rule, severity } of check(open, options)) (severity === 'error' ? errors : warnings).push(rule)
  return { errors, warnings }
}
