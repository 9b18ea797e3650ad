/** `fumi token`: prints the token of the API, or a link that signs a browser in. */
import type { Command } from 'commander'
import type { App } from '../../app.ts'
import { AppError } from '../../model/error.ts'
import { createSignInCode, readToken, rotateToken, signInLink } from '../../server/guard/sign-in.ts'
import { findLastStartedServer, type RunningServer } from '../../server/running-servers.ts'
import { defineCommand } from '../define-command.ts'
import { writeOut } from '../output.ts'

interface Options {
  readonly rotate?: boolean
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
    )
    .runWithApp(printToken)
}

async function printToken(app: App, { rotate = false, link = false, header = false }: Options): Promise<void> {
  if (link && header)
    throw new AppError(
      'bad_usage',
      'Pass either --link or --header.',
      '--link と --header は、どちらか一方だけを指定してください。',
    )
  const token = rotate ? rotateToken(app.directory) : readToken(app.directory)
  const server = link ? findRunningServer(app.directory) : undefined
  const text = server ? signInLink(server.url, createSignInCode(token, server.instance)) : token
  await writeOut(`${header ? 'Authorization: Bearer ' : ''}${text}\n`)
}

function findRunningServer(directory: string): RunningServer {
  const server = findLastStartedServer(directory)
  if (server) return server
  throw new AppError(
    'not_found',
    'no server is running. Start one: fumi serve',
    'サーバーは実行されていません。fumi serve で起動してください。',
  )
}
