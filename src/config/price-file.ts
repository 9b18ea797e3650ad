/** The user's price list, merged over the built-in one. Reports and ignores invalid entries. */
import { isJsonObject, type JsonValue, jsonEntries, plainJson } from '../lib/json/lossless.ts'
import { type Phrase, phrase } from '../model/phrase.ts'
import { LIST_PRICES, mergePriceLists, type PriceList, type TokenPrice } from '../model/prices.ts'
import { type ConfigProblem, readJsonFile } from './json-file.ts'

export interface PriceSettings {
  readonly list: PriceList
  readonly problems: readonly ConfigProblem[]
}

/** @param path null: only the built-in list */
export function readPrices(path: string | null, plan: 'api' | 'subscription' = 'api'): PriceSettings {
  const { list, problems } = readPriceList(path)
  return { list: plan === 'subscription' ? { ...list, plan } : list, problems }
}

function readPriceList(path: string | null): PriceSettings {
  if (path === null) return { list: LIST_PRICES, problems: [] }
  const { content, exists, problem } = readJsonFile(path)
  if (problem) return { list: LIST_PRICES, problems: [problem] }
  if (!exists)
    return {
      list: LIST_PRICES,
      problems: [
        {
          where: path,
          key: '',
          reason: phrase(
            'does not exist. Check fumi config prices',
            'ファイルがありません。fumi config prices で確認してください',
          ),
        },
      ],
    }
  const reader = new PriceFileReader(path)
  const list = reader.list(content)
  return { list: mergePriceLists(list, LIST_PRICES), problems: reader.problems }
}

const DAY_PATTERN = /^\d{4}-\d{2}-\d{2}$/
const PRICE_FIELDS = ['input', 'cached_input', 'cache_write', 'cache_write_1h', 'output'] as const
const SAMPLE_PRICE = '{ "input": 1.25, "cached_input": 0.125, "output": 10 }'
const WANTS_DAY = phrase('must be a day such as "2026-02-03"', 'には "2026-02-03" のように日付を指定してください')
const unknownKey = (problemsBefore: readonly string[]): Phrase =>
  phrase(
    `is not known; there are ${problemsBefore.join(', ')}`,
    `は使えません。使えるのは ${problemsBefore.join('、')} です`,
  )

class PriceFileReader {
  readonly problems: ConfigProblem[] = []
  readonly #where: string

  constructor(where: string) {
    this.#where = where
  }

  list(content: JsonValue): PriceList {
    const list = {
      as_of: '',
      source: this.#where,
      models: Object.create(null) as Record<string, readonly TokenPrice[] | string>,
    }
    for (const [key, value] of jsonEntries(isJsonObject(content) ? content : {})) {
      if (key === 'models' && isJsonObject(value))
        for (const [model, entry] of jsonEntries(value)) this.#model(`models.${model}`, model, entry, list.models)
      else if (key === 'models')
        this.#addProblem(
          key,
          phrase('must be an object of prices by model', 'にはモデルごとの価格のオブジェクトを指定してください'),
        )
      else if (key === 'as_of' && typeof value === 'string' && DAY_PATTERN.test(value)) list.as_of = value
      else if (key === 'as_of') this.#addProblem(key, WANTS_DAY)
      else if (key === 'source' && typeof value === 'string') list.source = value
      else if (key === 'source') this.#addProblem(key, phrase('must be a text', 'には文字列を指定してください'))
      else this.#addProblem(key, unknownKey(['as_of', 'source', 'models']))
    }
    for (const [model, entry] of Object.entries(list.models))
      if (typeof entry === 'string' && !isPriced(entry, list.models)) {
        this.#addProblem(
          `models.${model}`,
          phrase('must be the name of a model that has prices', 'には価格のあるモデルの名前を指定してください'),
        )
        delete list.models[model]
      }
    return list
  }

  #model(key: string, model: string, entry: JsonValue, models: Record<string, readonly TokenPrice[] | string>): void {
    if (typeof entry === 'string') {
      models[model] = entry
      return
    }
    const isList = Array.isArray(entry)
    const prices = (isList ? (entry as readonly JsonValue[]) : [entry]).map((one, at) =>
      this.#price(isList ? `${key}[${at}]` : key, one),
    )
    if (prices.length === 0)
      this.#addProblem(key, phrase('must have at least one price', 'には価格が 1 つ以上必要です'))
    const valid = prices.filter((one) => one !== undefined)
    // A list with a gap would silently give wrong prices on some days.
    if (valid.length < prices.length || valid.length === 0) return
    models[model] = valid.sort((a, b) => ((a.from ?? '') < (b.from ?? '') ? -1 : 1))
  }

  #price(key: string, entry: JsonValue): TokenPrice | undefined {
    const problemsBefore = this.problems.length
    if (!isJsonObject(entry))
      return this.#addProblem(
        key,
        phrase(`must look like ${SAMPLE_PRICE}`, `には ${SAMPLE_PRICE} のように指定してください`),
      )
    const fields = plainJson(entry) as { readonly [name: string]: unknown }
    for (const [name, value] of Object.entries(fields)) {
      const isNumber = typeof value === 'number' && Number.isFinite(value) && value >= 0
      if (name === 'from' && !(typeof value === 'string' && DAY_PATTERN.test(value)))
        this.#addProblem(`${key}.from`, WANTS_DAY)
      else if (PRICE_FIELDS.some((one) => one === name) && !isNumber)
        this.#addProblem(
          `${key}.${name}`,
          phrase('must be US dollars per million tokens', 'には 100 万トークンあたりのドルを指定してください'),
        )
      else if (name !== 'from' && !PRICE_FIELDS.some((one) => one === name))
        this.#addProblem(`${key}.${name}`, unknownKey(['from', ...PRICE_FIELDS]))
    }
    for (const name of ['input', 'output'])
      if (!(name in fields)) this.#addProblem(`${key}.${name}`, phrase('is missing', 'がありません'))
    return this.problems.length === problemsBefore ? (fields as unknown as TokenPrice) : undefined
  }

  #addProblem(key: string, reason: Phrase): undefined {
    this.problems.push({ where: this.#where, key, reason })
  }
}

const isPriced = (name: string, models: PriceList['models']): boolean =>
  [models, LIST_PRICES.models].some((one) => Object.hasOwn(one, name) && typeof one[name] !== 'string')
