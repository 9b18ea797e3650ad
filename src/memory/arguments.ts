/** Checks the arguments of a call. Messages say what to change. */
import { fieldsOf } from '../lib/unknown-values.ts'
import { nearestName } from '../model/nearest-name.ts'
import { DEFAULT_BUDGET, MAX_BUDGET, MIN_BUDGET } from './budget.ts'
import { ToolProblem } from './tool-problem.ts'

const MAX_TEXT = 20_000

export class ToolArguments {
  readonly #fields: { readonly [name: string]: unknown }

  constructor(given: unknown, known: readonly string[]) {
    const fields = given === undefined || given === null ? {} : fieldsOf(given)
    if (!fields) throw new ToolProblem('Pass the arguments as an object.')
    for (const name of Object.keys(fields)) {
      if (known.includes(name)) continue
      const nearest = nearestName(name, known)
      throw new ToolProblem(
        `Unknown argument "${name.slice(0, 40)}". ${nearest === undefined ? '' : `Did you mean ${nearest}? `}Available: ${known.join(', ')}.`,
      )
    }
    this.#fields = fields
  }

  text(name: string): string | undefined {
    const value = this.#fields[name]
    if (value === undefined || value === null || value === '') return undefined
    if (typeof value !== 'string') throw new ToolProblem(`${name} must be a text.`)
    if (value.length > MAX_TEXT) throw new ToolProblem(`${name} is longer than ${MAX_TEXT} characters. Shorten it.`)
    return value
  }

  required(name: string): string {
    const value = this.text(name)?.trim()
    if (!value) throw new ToolProblem(`${name} is missing.`)
    return value
  }

  choice<T extends string>(name: string, choices: readonly T[]): T | undefined {
    const value = this.text(name)
    if (value === undefined) return undefined
    const found = choices.find((one) => one === value)
    if (found === undefined) throw new ToolProblem(`${name} must be one of ${choices.join(', ')}.`)
    return found
  }

  number(name: string, least: number, most: number): number | undefined {
    const value = this.#fields[name]
    if (value === undefined || value === null) return undefined
    const number = typeof value === 'string' && /^\d{1,9}$/.test(value) ? Number(value) : value
    if (typeof number !== 'number' || !Number.isInteger(number) || number < least || number > most)
      throw new ToolProblem(`${name} must be a whole number from ${least} to ${most}.`)
    return number
  }

  /** Brought within the limits: models ask for what their schema allows, and for more. */
  get budget(): number {
    const wanted = this.number('budget', 1, Number.MAX_SAFE_INTEGER) ?? DEFAULT_BUDGET
    return Math.max(MIN_BUDGET, Math.min(wanted, MAX_BUDGET))
  }
}
