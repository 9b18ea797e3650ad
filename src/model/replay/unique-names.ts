/** Makes ids and names valid for a target. Valid ones stay unchanged. */
import { type ConversionChange, type ReplayCall, toConversionChange } from './step.ts'

/** Returns 64 hex digits, always the same for the same text. */
export type Digest = (text: string) => string

/** Gives each call a valid id that is unique in the conversation. */
export class UniqueCallIds {
  readonly #maxLength: number
  readonly #fits: RegExp | undefined
  readonly #digest: Digest
  readonly #taken = new Set<string>()
  /** The next suffix for an id that occurred before. */
  readonly #next = new Map<string, number>()
  #unnamedCount = 0

  /** @param fits pattern for valid ids, if not every text is valid */
  constructor(maxLength: number, digest: Digest, fits?: RegExp) {
    this.#maxLength = maxLength
    this.#digest = digest
    this.#fits = fits
  }

  /** Call it once per call; its result uses the same id. */
  take(id: string | null): string {
    const wanted = id === null || id === '' ? `call_${++this.#unnamedCount}` : id
    let unique = this.#isFit(wanted) ? wanted : this.#renamed(wanted)
    for (let n = this.#next.get(wanted) ?? 2; this.#taken.has(unique); n++) {
      this.#next.set(wanted, n + 1)
      const numbered = `${wanted}~${n}`
      unique = this.#isFit(numbered) ? numbered : this.#renamed(numbered)
    }
    this.#taken.add(unique)
    return unique
  }

  #isFit(id: string): boolean {
    return id.length <= this.#maxLength && (this.#fits?.test(id) ?? true)
  }

  #renamed(id: string): string {
    return `call_${this.#digest(id).slice(0, 24)}`
  }
}

/** Takes a call's id and name. Reports what was changed. */
export function nameCall(
  { tool }: ReplayCall,
  { ids, names }: { readonly ids: UniqueCallIds; readonly names: UniqueToolNames },
  report: (change: ConversionChange) => void,
): { readonly id: string; readonly name: string } {
  const id = ids.take(tool.call_id)
  const name = names.take(tool.name)
  if (id !== tool.call_id) report(toConversionChange(tool.call_id === null ? 'call_id_missing' : 'call_id_changed'))
  if (name !== tool.name) report(toConversionChange('tool_renamed'))
  return { id, name }
}

export interface NameRule {
  /** Pattern for valid names, apart from their length. */
  readonly fits: RegExp
  /** Pattern for a single valid character. */
  readonly allowedCharacters: RegExp
  readonly maxLength: number
}

/** Gives each tool one valid name throughout the conversation, different from all others. */
export class UniqueToolNames {
  readonly #rule: NameRule
  readonly #digest: Digest
  readonly #nameByOriginal = new Map<string, string>()
  readonly #taken = new Set<string>()

  constructor(rule: NameRule, digest: Digest) {
    this.#rule = rule
    this.#digest = digest
  }

  take(name: string | null): string {
    const wanted = name ?? 'unknown'
    const before = this.#nameByOriginal.get(wanted)
    if (before !== undefined) return before
    let unique = this.#isFit(wanted) ? wanted : this.#toLegal(wanted)
    if (this.#taken.has(unique)) unique = this.#shorten(unique, wanted)
    this.#nameByOriginal.set(wanted, unique)
    this.#taken.add(unique)
    return unique
  }

  #isFit(name: string): boolean {
    return name.length > 0 && name.length <= this.#rule.maxLength && this.#rule.fits.test(name)
  }

  #toLegal(name: string): string {
    const { allowedCharacters } = this.#rule
    const legal = Array.from(name, (one) => (allowedCharacters.test(one) ? one : '_'))
      .join('')
      .replace(/_{2,}/g, '_')
    const legalName = this.#rule.fits.test(legal) ? legal : `t_${legal.replace(/^_/, '')}`
    return legalName.length <= this.#rule.maxLength ? legalName : this.#shorten(legalName, name)
  }

  #shorten(legalName: string, name: string): string {
    return `${legalName.slice(0, this.#rule.maxLength - 7)}_${this.#digest(name).slice(0, 6)}`
  }
}
