/** `fumi token`: prints the token of the API, or a link that signs a browser in. */
import type { Command } from 'commander'
import type { App } from '../../app.ts'
import { AppError } from '../../model/error.ts'
import {
  createSignInCode,
  readToken,
  revokeMemoryToken,
  rotateToken,
  signInLink,
  type TokenScope,
} from '../../server/guard/sign-in.ts'
import { findLastStartedServer, type RunningServer } from '../../server/running-servers.ts'
import { defineCommand } from '../define-command.ts'
import { say } from '../language.ts'
import { writeOut } from '../output.ts'

interface Options {
  readonly scope: TokenScope
  readonly rotate?: boolean
  readonly revoke?: boolean
  readonly link?: boolean
  readonly header?: boolean
}

export function tokenCommand(program: Command): void {
  defineCommand(
    program,
    'token',
    'print the API token for scripts, or a sign-in link',
    'スクリプト用の API トークン、またはサインイン用リンクを表示',
  )
    .option(
      '--scope <scope>',
      'api: everything; memory: only what agents recall, at /mcp',
      'api: すべて。memory: エージェントによる参照（/mcp）だけ',
      { choices: ['api', 'memory'], default: 'api' },
    )
    .option('--revoke', 'delete the token of scope memory', 'memory のトークンを削除')
    .option(
      '--rotate',
      'create a new token and sign out the old one and every browser',
      'トークンを作り直す。古いトークンとサインイン中のブラウザーは使えなくなる',
    )
    .option(
      '--link',
      'print a sign-in link to the running server; it works once, within 60 seconds',
      '実行中のサーバーへのサインイン用リンクを表示。60 秒以内に 1 回だけ使える',
    )
    .option(
      '--header',
      'print it as a header for curl -H @-, so that it stays out of the command line',
      'curl -H @- に渡すヘッダーとして表示（コマンドラインにトークンが残らない）',
    )
    .examples(
      'fumi token --header | curl -H @- http://localhost:4680/api/sessions',
      'fumi token --link',
      'fumi token --rotate',
      'fumi token --scope memory --header',
      'fumi token --scope memory --revoke',
    )
    .runWithApp(printToken)
}

async function printToken(app: App, options: Options): Promise<void> {
  const { scope, rotate = false, revoke = false, link = false, header = false } = options
  if (link && header)
    throw new AppError(
      'bad_usage',
      'Pass either --link or --header.',
      '--link と --header は、どちらか一方だけを指定してください。',
    )
  if (scope === 'memory' && link)
    throw new AppError(
      'bad_usage',
      'A token of scope memory signs no browser in. Leave out --link or --scope.',
      'memory のトークンではブラウザーにサインインできません。--link か --scope を外してください。',
    )
  if (revoke) return revokeToken(app, scope)
  const token = rotate ? rotateToken(app.directory, scope) : readToken(app.directory, scope)
  const server = link ? findRunningServer(app.directory) : undefined
  const text = server ? signInLink(server.url, createSignInCode(token, server.instance)) : token
  await writeOut(`${header ? 'Authorization: Bearer ' : ''}${text}\n`)
}

async function revokeToken(app: App, scope: TokenScope): Promise<void> {
  if (scope !== 'memory')
    throw new AppError(
      'bad_usage',
      'The API always has a token; --rotate replaces it. To revoke the other one: fumi token --scope memory --revoke',
      'API のトークンは削除できません。作り直すには --rotate を使ってください。もう一方を削除するには: fumi token --scope memory --revoke',
    )
  await writeOut(
    revokeMemoryToken(app.directory)
      ? say(
          'Revoked. MCP clients that use it are refused from now on.\n',
          '削除しました。このトークンを使う MCP クライアントは拒否されます。\n',
        )
      : say('There is no token of scope memory.\n', 'memory のトークンはありません。\n'),
  )
}

function findRunningServer(directory: string): RunningServer {
  const server = findLastStartedServer(directory)
  if (server) return server
  throw new AppError(
    'not_found',
    'No server is running. Start one: fumi serve',
    'サーバーは実行されていません。fumi serve で起動してください。',
  )
}
