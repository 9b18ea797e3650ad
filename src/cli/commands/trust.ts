/** `fumi trust`: trusts the current content of a project's agent or MCP file. */
import type { Command } from 'commander'
import { readProjectFile, resolveProjectPath } from '../../chat/trust/trust-question.ts'
import { TrustStore } from '../../chat/trust/trust-store.ts'
import { dataDirectory, thisMachine } from '../../lib/files/data-directory.ts'
import { toPrintable } from '../../lib/text.ts'
import { AppError } from '../../model/error.ts'
import { defineCommand, JSON_OPTION } from '../define-command.ts'
import { say } from '../language.ts'
import { writeErr, writeOut } from '../output.ts'
import { askTrust, renderTrustQuestion } from '../trust-question.ts'

interface Options {
  readonly yes?: boolean
  readonly list?: boolean
  readonly remove?: boolean
  readonly json?: boolean
}

export function trustCommand(program: Command): void {
  defineCommand(
    program,
    'trust',
    "trust a project's agent or MCP servers",
    'プロジェクトのエージェントや MCP サーバーを信頼する',
  )
    .argument(
      '[file]',
      'a file in .amazonq/cli-agents, or .amazonq/mcp.json',
      '.amazonq/cli-agents のファイル、または .amazonq/mcp.json',
    )
    .option('--yes', 'skip the confirmation', '確認を省く')
    .option('--list', 'list the trusted files', '信頼したファイルを一覧表示')
    .option('--remove', 'stop trusting the file', 'ファイルの信頼を取り消す')
    .option(...JSON_OPTION)
    .examples(
      'fumi trust .amazonq/cli-agents/review.json',
      'fumi trust .amazonq/mcp.json',
      'fumi trust --list',
      'fumi trust --remove .amazonq/mcp.json',
    )
    .run(run)
}

async function run(file: string | undefined, options: Options): Promise<void> {
  const trust = new TrustStore(dataDirectory(thisMachine()))
  if (options.list) return listTrusted(trust, options)
  if (file === undefined)
    throw new AppError(
      'bad_usage',
      'Specify a file: fumi trust <file>. Pass --list to list trusted files.',
      'ファイルを指定してください: fumi trust <file>。信頼したファイルの一覧は --list です。',
    )
  if (options.remove) await untrustFile(trust, file, options)
  else await trustFile(trust, file, options)
}

async function trustFile(trust: TrustStore, fileName: string, options: Options): Promise<void> {
  const file = readProjectFile(fileName, process.cwd(), trust)
  if (!file.ok) throw new AppError('bad_usage', file.reason)
  const { fingerprint, question } = file
  const { path } = fingerprint
  const isKnown = trust.isTrusted(fingerprint)
  if (!isKnown && options.yes) await writeErr(renderTrustQuestion(question))
  if (!isKnown && !options.yes && !(await askTrust(question)))
    throw new AppError(
      'no_permission',
      `${path} not trusted. Pass --yes to skip the confirmation.`,
      `${path} は信頼していません。確認を省くには --yes を付けてください。`,
    )
  if (!isKnown) trust.add(fingerprint)
  const { sha256 } = fingerprint
  await writeOut(
    options.json
      ? `${JSON.stringify({ trusted: path, sha256 })}\n`
      : say(
          `Trusted ${toPrintable(path)} (sha256 ${sha256.slice(0, 12)}…).\n`,
          `${toPrintable(path)} を信頼しました（sha256 ${sha256.slice(0, 12)}…）。\n`,
        ),
  )
}

async function untrustFile(trust: TrustStore, fileName: string, options: Options): Promise<void> {
  const path = resolveProjectPath(fileName, process.cwd())?.path ?? fileName
  if (!trust.remove(path))
    throw new AppError(
      'not_found',
      `${path} is not a trusted file. Run fumi trust --list for a list.`,
      `${path} は信頼したファイルではありません。一覧は fumi trust --list で見られます。`,
    )
  await writeOut(
    options.json
      ? `${JSON.stringify({ removed: path })}\n`
      : say(`${toPrintable(path)} is no longer trusted.\n`, `${toPrintable(path)} の信頼を取り消しました。\n`),
  )
}

async function listTrusted(trust: TrustStore, options: Options): Promise<void> {
  const trusted = trust.files().map((file) => {
    const now = readProjectFile(file.path, '/', trust)
    const state = !now.ok ? 'gone' : trust.isTrusted(now.fingerprint) ? 'trusted' : 'changed'
    return { ...file, state }
  })
  if (options.json) return writeOut(`${JSON.stringify({ trusted })}\n`)
  if (trusted.length === 0) return writeOut(say('No trusted files.\n', '信頼したファイルはありません。\n'))
  const stateLabels: { readonly [state: string]: string } = {
    trusted: say('trusted', '信頼済み'),
    changed: say('changed', '変更あり'),
    gone: say('gone', 'なし'),
  }
  await writeOut(trusted.map(({ path, at, state }) => `${at}  ${stateLabels[state]}  ${toPrintable(path)}\n`).join(''))
}
