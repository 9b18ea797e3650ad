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

/** Faults that are known and not mended yet. They are counted apart and never pass for sound. */
export function isKnown(form: WrittenForm, isOwn: boolean, rule: string): boolean {
  // An example that ends with calls keeps their results behind them.
  if (form.name === 'sft' && rule === 'end_not_assistant') return true
  // Chat messages that use an id twice keep it.
  return isOwn && rule === 'id_duplicate'
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
