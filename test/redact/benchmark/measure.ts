/** Runs the redaction on generated secrets and look-alikes, and counts what it finds. */
import { findSecrets } from '../../../src/redact/secrets.ts'
import { CONTEXTUAL_KINDS } from './contextual-kinds.ts'
import { DOCUMENTED_KINDS, SURROUNDINGS } from './documented-kinds.ts'
import { lookAlikes } from './look-alikes.ts'
import { Random } from './random.ts'
import { RECORDED_KINDS } from './recorded-kinds.ts'

export interface KindResult {
  readonly name: string
  readonly isDocumented: boolean
  readonly secrets: number
  readonly found: number
  /** Look-alikes that were taken for this kind. */
  readonly wrong: number
  /** Texts whose secret stayed. */
  readonly missed: readonly string[]
}

export interface BenchmarkResult {
  readonly kinds: readonly KindResult[]
  readonly lookAlikes: number
  readonly falsePositives: readonly string[]
}

const SECRETS_PER_KIND = 16
const SEED = 20260101

interface Sample {
  readonly text: string
  readonly secret: string
}

/** Results are the same in every run. */
export async function runBenchmark(): Promise<BenchmarkResult> {
  const random = new Random(SEED)
  const innocent = lookAlikes(random)
  const wrong = await findSecrets(innocent)
  const wrongKinds = [...wrong.values()].flatMap((spans) => spans.map(({ kind }) => kind))
  const kinds: KindResult[] = []
  const measure = async (name: string, isDocumented: boolean, samples: readonly Sample[]): Promise<void> => {
    const spans = await findSecrets(samples.map(({ text }) => text))
    const found = new Set<string>()
    const missed = samples.filter(({ text, secret }) => {
      const here = spans.get(text) ?? []
      const isFound = isCovered(text, secret, here)
      if (isFound) for (const { kind } of here) found.add(kind)
      return !isFound
    })
    const wrongHere = wrongKinds.filter((kind) => found.has(kind)).length
    kinds.push({
      name,
      isDocumented,
      secrets: samples.length,
      found: samples.length - missed.length,
      wrong: wrongHere,
      missed: missed.map(({ text }) => text),
    })
  }
  for (const { name, make } of DOCUMENTED_KINDS)
    await measure(
      name,
      true,
      samplesOf((at) => {
        const secret = make(random)
        const text = (SURROUNDINGS[at % SURROUNDINGS.length] ?? String)(secret)
        return { text, secret: text.includes(secret) ? secret : JSON.stringify(secret).slice(1, -1) }
      }),
    )
  for (const { name, make, surround } of [...CONTEXTUAL_KINDS, ...RECORDED_KINDS])
    await measure(
      name,
      false,
      samplesOf((at) => {
        const secret = make(random)
        const text = (surround[at % surround.length] ?? String)(secret, random)
        return { text, secret: text.includes(secret) ? secret : encodeURIComponent(secret) }
      }),
    )
  return { kinds, lookAlikes: innocent.length, falsePositives: [...wrong.keys()] }
}

const samplesOf = (make: (at: number) => Sample): readonly Sample[] =>
  Array.from({ length: SECRETS_PER_KIND }, (_, at) => make(at))

/** Nothing of the secret may stay but what everybody knows: the address of a service, the name of a field. */
function isCovered(
  text: string,
  secret: string,
  spans: readonly { readonly start: number; readonly end: number }[],
): boolean {
  let rest = text
  for (const { start, end } of [...spans].sort((a, b) => b.start - a.start))
    rest = `${rest.slice(0, start)}\n${rest.slice(end)}`
  for (let at = 0; at + PIECE <= secret.length; at++) {
    const piece = secret.slice(at, at + PIECE)
    if (rest.includes(piece) && !isPublicPart(piece, secret)) return false
  }
  return secret.length >= PIECE || !rest.includes(secret)
}

const PIECE = 8
const PUBLIC_PARTS =
  /https:\/\/[\w.]+\/[a-z/]+|DefaultEndpointsProtocol=https;AccountName=\w+;AccountKey=|-----[A-Z ]+-----/g
const isPublicPart = (piece: string, secret: string): boolean =>
  (secret.match(PUBLIC_PARTS) ?? []).some((part) => part.includes(piece) || piece.split(part.slice(-4)).length > 1)
