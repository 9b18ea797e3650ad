/** Converts the types of src/model/api, with their comments, to JSON Schema for the API description. */
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import ts from 'typescript'

const root = join(import.meta.dirname, '..')
const folder = join(root, 'src', 'model', 'api')

/** @returns {Record<string, object>} schemas by type name, in alphabetical order */
export function apiShapes() {
  const files = readdirSync(folder).map((name) => join(folder, name))
  const config = ts.readConfigFile(join(root, 'tsconfig.json'), ts.sys.readFile)
  const { options } = ts.parseJsonConfigFileContent(config.config, ts.sys, root)
  const program = ts.createProgram(files, options)
  const shapes = new Shapes(program.getTypeChecker())
  for (const file of files) {
    const source = program.getSourceFile(file)
    for (const one of source?.statements ?? [])
      if ((ts.isInterfaceDeclaration(one) || ts.isTypeAliasDeclaration(one)) && !one.typeParameters) shapes.declare(one)
  }
  return Object.fromEntries(Object.entries(shapes.known).sort(([a], [b]) => (a < b ? -1 : 1)))
}

class Shapes {
  constructor(checker) {
    this.checker = checker
    this.known = {}
  }

  declare(declaration) {
    const name = declaration.name.text
    if (this.known[name]) return
    this.known[name] = {}
    const type = this.checker.getTypeAtLocation(declaration)
    const symbol = this.checker.getSymbolAtLocation(declaration.name)
    this.known[name] = { ...this.described(symbol), ...this.shape(type, true) }
  }

  shape(type, isOwn = false) {
    const named = isOwn ? undefined : this.reference(type)
    if (named) return named
    if (type.isUnion()) return this.union(type)
    if (type.isIntersection()) return this.intersection(type)
    if (type.isStringLiteral() || type.isNumberLiteral()) return { const: type.value }
    const { flags } = type
    if (flags & ts.TypeFlags.BooleanLiteral) return { const: this.checker.typeToString(type) === 'true' }
    if (flags & (ts.TypeFlags.String | ts.TypeFlags.TemplateLiteral)) return { type: 'string' }
    if (flags & ts.TypeFlags.Number) return { type: 'number' }
    if (flags & ts.TypeFlags.Boolean) return { type: 'boolean' }
    if (flags & ts.TypeFlags.Null) return { type: 'null' }
    if (flags & (ts.TypeFlags.Unknown | ts.TypeFlags.Any)) return {}
    if (flags & ts.TypeFlags.Never) return { not: {} }
    if (this.checker.isArrayType(type))
      return { type: 'array', items: this.shape(this.checker.getTypeArguments(type)[0]) }
    return this.object(type)
  }

  reference(type) {
    const symbol = type.aliasSymbol && !type.aliasTypeArguments ? type.aliasSymbol : type.symbol
    const declaration = symbol?.declarations?.find(
      (one) => ts.isInterfaceDeclaration(one) || ts.isTypeAliasDeclaration(one),
    )
    if (!declaration || declaration.typeParameters || !declaration.getSourceFile().fileName.includes('/src/model/'))
      return
    if (/^(?:Brand)$/.test(declaration.name.text)) return
    this.declare(declaration)
    return { $ref: `#/components/schemas/${declaration.name.text}` }
  }

  union(type) {
    const parts = type.types.filter((one) => !(one.flags & ts.TypeFlags.Undefined))
    if (parts.every((one) => one.isStringLiteral()))
      return parts.length === 1 ? { const: parts[0].value } : { enum: parts.map((one) => one.value) }
    if (parts.every((one) => one.flags & ts.TypeFlags.BooleanLiteral) && parts.length === 2) return { type: 'boolean' }
    const shapes = parts.filter((one) => !(one.flags & ts.TypeFlags.BooleanLiteral)).map((one) => this.shape(one))
    if (parts.some((one) => one.flags & ts.TypeFlags.BooleanLiteral)) shapes.unshift({ type: 'boolean' })
    return shapes.length === 1 ? shapes[0] : { anyOf: shapes }
  }

  /** Branded types are plain strings for API users. */
  intersection(type) {
    if (type.types.some((one) => one.flags & ts.TypeFlags.String)) return { type: 'string' }
    return this.object(type)
  }

  object(type) {
    const properties = {}
    const required = []
    for (const property of this.checker.getPropertiesOfType(type)) {
      const isOptional = (property.flags & ts.SymbolFlags.Optional) !== 0
      const declaration = property.valueDeclaration ?? property.declarations?.[0]
      const inner = declaration
        ? this.checker.getTypeOfSymbolAtLocation(property, declaration)
        : this.checker.getTypeOfSymbol(property)
      properties[property.name] = { ...this.shape(inner), ...this.described(property) }
      if (!isOptional) required.push(property.name)
    }
    const index = this.checker.getIndexTypeOfType(type, ts.IndexKind.String)
    return {
      type: 'object',
      ...(Object.keys(properties).length > 0 && { properties }),
      ...(required.length > 0 && { required }),
      ...(index && !(index.flags & ts.TypeFlags.Never) && { additionalProperties: this.shape(index) }),
    }
  }

  described(symbol) {
    const text = ts.displayPartsToString(symbol?.getDocumentationComment(this.checker)).replaceAll(/\s+/g, ' ').trim()
    return text === '' ? {} : { description: text }
  }
}
