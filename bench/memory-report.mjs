/** Writes how well recall finds into docs/memory.md. */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { line } from './report.mjs'

const PAGE = join(import.meta.dirname, '..', 'docs', 'memory.md')
const KINDS = {
  en: 'questions in English',
  ja: 'questions in Japanese',
  zh: 'questions in Chinese',
  error: 'error texts',
  output: 'facts in tool output',
  all: 'all questions',
}
const HEAD = ['task', 'questions', 'method', 'hit@1', 'hit@5', 'MRR', 'tokens of an answer']

export function writeQuality(rows) {
  const percent = (share) => `${(share * 100).toFixed(1)} %`
  const order = [...new Set(rows.map(({ task, kind }) => `${task} ${kind}`))]
  const sorted = rows.toSorted((a, b) => order.indexOf(`${a.task} ${a.kind}`) - order.indexOf(`${b.task} ${b.kind}`))
  const lines = sorted.map(({ task, kind, method, questions, hit1, hit5, mrr, tokens }) =>
    line([`${task}: ${KINDS[kind]}`, questions, method, percent(hit1), percent(hit5), mrr.toFixed(3), tokens ?? '–']),
  )
  const table = [line(HEAD), line(HEAD.map(() => '---')), ...lines].join('\n')
  const page = readFileSync(PAGE, 'utf8')
  writeFileSync(
    PAGE,
    page.replace(
      /(<!-- quality:begin -->\n)[\s\S]*?(<!-- quality:end -->)/,
      (_, begin, end) => `${begin}${table}\n${end}`,
    ),
  )
}
