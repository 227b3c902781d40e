; inherits: javascript_base
; Class fields, which the TypeScript grammars name otherwise.

(field_definition property: (_) @name
  value: [(arrow_function body: (_) @inner) (function_expression body: (_) @inner)]) @method
(field_definition property: (_) @name) @field
