/**
 * Checks a value against a JSON Schema: types, constants, objects, lists, numbers, texts, combinations and local
 * references. Keywords that it does not know are ignored, as the specification allows.
 */
import { type Fields, fieldsOf, isObject, listOf, numberOf, stringOf } from '../unknown-values.ts'
import { isSameJson } from './compare.ts'

export interface SchemaProblem {
  /** Such as `items[2].name`; empty for the value itself. */
  readonly path: string
  readonly reason: string
}

const MAX_PROBLEMS = 20
const MAX_DEPTH = 60

export function checkSchema(value: unknown, schema: unknown): readonly SchemaProblem[] {
  const problems: SchemaProblem[] = []
  check(value, schema, { root: schema, path: '', depth: 0, problems })
  return problems
}

interface Context {
  readonly root: unknown
  readonly path: string
  readonly depth: number
  readonly problems: SchemaProblem[]
}

function check(value: unknown, schema: unknown, context: Context): void {
  const { problems, path } = context
  if (problems.length >= MAX_PROBLEMS || context.depth > MAX_DEPTH || schema === true) return
  const report = (reason: string): void => void problems.push({ path, reason })
  if (schema === false) return report('is not allowed')
  const rules = fieldsOf(schema)
  if (!rules) return
  const reference = stringOf(rules['$ref'])
  if (reference !== undefined) check(value, resolve(reference, context.root), deeper(context))
  const types = [rules['type']].flat().filter((one) => typeof one === 'string')
  if (types.length > 0 && !types.some((type) => hasType(value, type)))
    return report(`must be ${types.join(' or ')}, but is ${typeName(value)}`)
  if ('const' in rules && !isSameJson(value, rules['const'])) report(`must be ${JSON.stringify(rules['const'])}`)
  const choices = rules['enum']
  if (Array.isArray(choices) && !choices.some((one) => isSameJson(value, one)))
    report(`must be one of ${choices.map((one) => JSON.stringify(one)).join(', ')}`)
  checkCombinations(value, rules, context, report)
  if (typeof value === 'string') checkText(value, rules, report)
  if (typeof value === 'number') checkNumber(value, rules, report)
  if (Array.isArray(value)) checkList(value, rules, context, report)
  else if (isObject(value)) checkObject(value as Fields, rules, context, report)
}

type Report = (reason: string) => void

const deeper = (context: Context, step = ''): Context => ({
  ...context,
  depth: context.depth + 1,
  path: step === '' || step.startsWith('[') || context.path === '' ? context.path + step : `${context.path}.${step}`,
})

const fits = (value: unknown, schema: unknown, context: Context): boolean => {
  const problems: SchemaProblem[] = []
  check(value, schema, { ...deeper(context), problems })
  return problems.length === 0
}

function checkCombinations(value: unknown, rules: Fields, context: Context, report: Report): void {
  for (const one of listOf(rules['allOf'])) check(value, one, deeper(context))
  const any = rules['anyOf']
  if (Array.isArray(any) && !any.some((one) => fits(value, one, context))) report('fits none of the alternatives')
  const exactly = rules['oneOf']
  if (Array.isArray(exactly)) {
    const count = exactly.filter((one) => fits(value, one, context)).length
    if (count !== 1) report(`must fit exactly one alternative, but fits ${count}`)
  }
  if ('not' in rules && fits(value, rules['not'], context)) report('has a form that is not allowed')
}

function checkText(value: string, rules: Fields, report: Report): void {
  const length = [...value].length
  const [min, max] = [numberOf(rules['minLength']), numberOf(rules['maxLength'])]
  if (min !== undefined && length < min) report(`must have ${min} characters or more`)
  if (max !== undefined && length > max) report(`must have ${max} characters or fewer`)
  const pattern = stringOf(rules['pattern'])
  if (pattern !== undefined && toRegExp(pattern)?.test(value) === false) report(`must match ${pattern}`)
}

function toRegExp(pattern: string): RegExp | undefined {
  try {
    return new RegExp(pattern, 'u')
  } catch {
    return undefined
  }
}

function checkNumber(value: number, rules: Fields, report: Report): void {
  const limit = (key: string, isWrong: (limit: number) => boolean, text: string): void => {
    const found = numberOf(rules[key])
    if (found !== undefined && isWrong(found)) report(`must be ${text} ${found}`)
  }
  limit('minimum', (min) => value < min, 'at least')
  limit('maximum', (max) => value > max, 'at most')
  limit('exclusiveMinimum', (min) => value <= min, 'more than')
  limit('exclusiveMaximum', (max) => value >= max, 'less than')
  limit('multipleOf', (unit) => unit > 0 && Math.abs(value / unit - Math.round(value / unit)) > 1e-9, 'a multiple of')
}

function checkList(value: readonly unknown[], rules: Fields, context: Context, report: Report): void {
  const [min, max] = [numberOf(rules['minItems']), numberOf(rules['maxItems'])]
  if (min !== undefined && value.length < min) report(`must have ${min} items or more`)
  if (max !== undefined && value.length > max) report(`must have ${max} items or fewer`)
  if (rules['uniqueItems'] === true && value.some((one, at) => value.slice(0, at).some((two) => isSameJson(one, two))))
    report('must not repeat items')
  const first = listOf(rules['prefixItems'])
  for (const [at, item] of value.entries()) {
    const schema = at < first.length ? first[at] : rules['items']
    if (schema !== undefined) check(item, schema, deeper(context, `[${at}]`))
  }
}

function checkObject(value: Fields, rules: Fields, context: Context, report: Report): void {
  const properties = fieldsOf(rules['properties']) ?? {}
  for (const name of listOf(rules['required']))
    if (typeof name === 'string' && !Object.hasOwn(value, name)) report(`must have "${name}"`)
  const patterns = Object.entries(fieldsOf(rules['patternProperties']) ?? {})
  for (const [name, item] of Object.entries(value)) {
    const here = deeper(context, name)
    const matching = patterns.filter(([pattern]) => toRegExp(pattern)?.test(name))
    for (const [, schema] of matching) check(item, schema, here)
    if (Object.hasOwn(properties, name)) check(item, properties[name], here)
    else if (matching.length === 0 && rules['additionalProperties'] === false) report(`must not have "${name}"`)
    else if (matching.length === 0 && isObject(rules['additionalProperties']))
      check(item, rules['additionalProperties'], here)
  }
}

/** A JSON Pointer in the same document. */
function resolve(reference: string, root: unknown): unknown {
  if (!reference.startsWith('#')) return true
  const steps = reference.slice(1).split('/').slice(1)
  return steps.reduce<unknown>(
    (at, step) => fieldsOf(at)?.[decodeURIComponent(step).replaceAll('~1', '/').replaceAll('~0', '~')],
    root,
  )
}

function hasType(value: unknown, type: unknown): boolean {
  if (type === 'integer') return typeof value === 'number' && Number.isInteger(value)
  return type === typeName(value)
}

function typeName(value: unknown): string {
  if (value === null) return 'null'
  return Array.isArray(value) ? 'array' : typeof value
}
