/** What the target's own checker says of an output. */
import { readFileSync } from 'node:fs'
import type { WrittenForm } from '../../src/agents/agent.ts'
import { checkTarget, type Target } from '../../src/convert/check/check.ts'
import type { ProfileName } from '../../src/openai/profile.ts'

/** Rules that were broken, once for each finding. */
export interface Checked {
  readonly errors: readonly string[]
  readonly warnings: readonly string[]
}

interface Checker {
  readonly target: Target
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

export async function checked({ target, profile }: Checker, path: string): Promise<Checked> {
  const errors: string[] = []
  const warnings: string[] = []
  const bytes = readFileSync(path)
  async function* open(): AsyncGenerator<Buffer> {
    yield bytes
  }
  // An example for fine-tuning without any answer holds nothing.
  if (bytes.length === 0) return { errors, warnings }
  for await (const { rule, severity } of checkTarget(target, open, profile && { profile }))
    (severity === 'error' ? errors : warnings).push(rule)
  return { errors, warnings }
}
