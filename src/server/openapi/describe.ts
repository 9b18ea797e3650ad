/** Describes the API without a running server, for the documentation. */
import { App } from '../../app.ts'
import { buildServer } from '../build-server.ts'
import { type ApiDocument, buildApiDocument } from './document.ts'

export function describeApi(version = ''): ApiDocument {
  const options = { host: 'localhost', port: () => 0, tokens: undefined, secure: false, page: '', version, idle: true }
  return buildApiDocument(buildServer(new App(), options).api, version)
}
