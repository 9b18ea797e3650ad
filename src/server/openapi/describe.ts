/** The description of the API without a server: for documents and for those who check them. */
import { App } from '../../app.ts'
import { buildServer } from '../build-server.ts'
import { type ApiDocument, buildApiDocument } from './document.ts'

/** Nothing is opened on the way. */
export function describeApi(version = ''): ApiDocument {
  const options = { host: 'localhost', port: () => 0, tokens: undefined, secure: false, page: '', version, idle: true }
  return buildApiDocument(buildServer(new App(), options).api, version)
}
