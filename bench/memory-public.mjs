/** Public retrieval tasks as sessions and questions. Their files are given by path and are not part of the project. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { linesFrom } from './codex-lines.mjs'

const BEGIN = Date.UTC(2026, 0, 1)
const HOUR = 3_600_000

/**
 * LongMemEval-S: each question has sessions of its own, which become a project of their own.
 *
 * @param most questions to read
 */
export function readLongMemEval(path, folder, most = Number.POSITIVE_INFINITY) {
  const cases = JSON.parse(readFileSync(path, 'utf8'))
  const questions = []
  for (const [at, one] of cases.slice(0, most).entries()) {
    // Questions without an answer in any session have nothing to find.
    if (one.question_id.endsWith('_abs')) continue
    const project = `/longmemeval/q${at}`
    const ids = new Map()
    for (const [n, turns] of one.haystack_sessions.entries()) {
      const id = writeSession(folder, {
        at,
        n,
        project,
        turns: turns.map(({ role, content }) => [role === 'user' ? 'user' : 'assistant', content]),
      })
      ids.set(one.haystack_session_ids[n], id)
    }
    questions.push({
      kind: 'all',
      text: one.question,
      project,
      session: one.answer_session_ids.flatMap((id) => ids.get(id) ?? []),
    })
  }
  return questions
}

/** LoCoMo: ten long conversations, and the sessions that answer each question. */
export function readLocomo(path, folder) {
  const questions = []
  for (const [at, { conversation, qa }] of JSON.parse(readFileSync(path, 'utf8')).entries()) {
    const project = `/locomo/c${at}`
    const ids = new Map()
    for (let n = 1; Array.isArray(conversation[`session_${n}`]); n++) {
      const turns = conversation[`session_${n}`].map(({ speaker, text }) => [
        speaker === conversation.speaker_a ? 'user' : 'assistant',
        `${speaker}: ${text}`,
      ])
      ids.set(`D${n}`, writeSession(folder, { at: 1000 + at, n, project, turns }))
    }
    for (const { question, evidence = [] } of qa) {
      const session = [...new Set(evidence.flatMap((one) => ids.get(one.split(':')[0].trim()) ?? []))]
      if (session.length > 0) questions.push({ kind: 'all', text: question, project, session })
    }
  }
  return questions
}

function writeSession(folder, { at, n, project, turns }) {
  const number = at * 10_000 + n
  const id = `${number.toString(16).padStart(8, '0')}-0000-7000-8000-000000000000`
  const { header, said } = linesFrom(BEGIN + n * HOUR)
  const lines = [
    header({ id, cwd: project, source: 'cli' }),
    ...turns.map(([role, text], line) => said(line + 1, role, text)),
  ]
  const path = join(folder, '2026', String(1 + (at % 12)).padStart(2, '0'), String(1 + (at % 28)).padStart(2, '0'))
  mkdirSync(path, { recursive: true })
  writeFileSync(join(path, `rollout-2026-01-01T00-00-00-${id}.jsonl`), `${lines.join('\n')}\n`)
  return `codex:${id}`
}
