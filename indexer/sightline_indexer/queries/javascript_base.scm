; hint: \bfunction\b|=>|\bclass\b|\)\s*\{
; comments: //
; Definitions that JavaScript and TypeScript share: declarations, functions bound to a name in any of the usual ways, class members, and
; names bound at the top of a module.

(function_declaration name: (identifier) @name body: (_) @inner) @function
(generator_function_declaration name: (identifier) @name body: (_) @inner) @function
(class_declaration name: (_) @name body: (_) @body) @class
(export_statement) @body
(export_statement value: (_) @deep)

; `require` is an import.
(lexical_declaration (variable_declarator name: (identifier) @name
  value: (call_expression function: (identifier) @_require) (#eq? @_require "require")) @import)
(variable_declaration (variable_declarator name: (identifier) @name
  value: (call_expression function: (identifier) @_require) (#eq? @_require "require")) @import)

; Functions and classes bound to a variable; inside a function that is a local.
(lexical_declaration (variable_declarator name: (identifier) @name
  value: [(arrow_function body: (_) @inner) (function_expression body: (_) @inner) (generator_function body: (_) @inner)]) @function @value)
(variable_declaration (variable_declarator name: (identifier) @name
  value: [(arrow_function body: (_) @inner) (function_expression body: (_) @inner) (generator_function body: (_) @inner)]) @function @value)
(lexical_declaration (variable_declarator name: (identifier) @name value: (class body: (_) @body)) @class @value)
(variable_declaration (variable_declarator name: (identifier) @name value: (class body: (_) @body)) @class @value)

; Functions and classes bound to a property: exports, prototypes, namespaces.
(expression_statement (assignment_expression
  left: (member_expression object: (member_expression object: (_) @container property: (property_identifier) @_prototype)
    property: (property_identifier) @name)
  right: [(arrow_function body: (_) @inner) (function_expression body: (_) @inner) (generator_function body: (_) @inner)]
  (#eq? @_prototype "prototype")) @method)
(expression_statement (assignment_expression
  left: (member_expression property: [(property_identifier) (private_property_identifier)] @name)
  right: [(arrow_function body: (_) @inner) (function_expression body: (_) @inner) (generator_function body: (_) @inner)]) @function)
(expression_statement (assignment_expression
  left: (identifier) @name
  right: [(arrow_function body: (_) @inner) (function_expression body: (_) @inner) (generator_function body: (_) @inner)]) @function @value)
(expression_statement (assignment_expression
  left: (member_expression property: (property_identifier) @name) right: (class body: (_) @body)) @class)
(expression_statement (assignment_expression right: (object) @body))

; Members of classes and of object literals; an object inside a function is local and so are its methods.
(method_definition name: (_) @name body: (_) @inner) @method @value
(pair key: [(property_identifier) (string)] @name
  value: [(arrow_function body: (_) @inner) (function_expression body: (_) @inner) (generator_function body: (_) @inner)]) @property
(pair value: (object) @body)
(class_static_block) @deep

; Names bound at the top of a module.
(lexical_declaration (variable_declarator name: (identifier) @name value: (object) @body) @variable)
(variable_declaration (variable_declarator name: (identifier) @name value: (object) @body) @variable)
(lexical_declaration kind: "const" (variable_declarator name: (identifier) @name) @constant)
(lexical_declaration (variable_declarator name: (identifier) @name) @variable)
(variable_declaration (variable_declarator name: (identifier) @name) @variable)
(lexical_declaration (variable_declarator value: [(call_expression) (new_expression) (await_expression) (parenthesized_expression)
  (binary_expression) (ternary_expression) (assignment_expression) (array)] @deep))
(variable_declaration (variable_declarator value: [(call_expression) (new_expression) (await_expression) (parenthesized_expression)
  (binary_expression) (ternary_expression) (assignment_expression) (array)] @deep))

(object) @body
(expression_statement) @deep
(if_statement) @deep
(for_statement) @deep
(for_in_statement) @deep
(while_statement) @deep
(try_statement) @deep
(switch_statement) @deep
(labeled_statement) @deep
(return_statement) @deep
(statement_block) @body

; What anonymous functions bind is local to them.
(arrow_function body: (_) @body) @scope
(function_expression body: (_) @body) @scope
