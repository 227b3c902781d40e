; inherits: c
; bodies: \)[ \t]*+\r?\n\{(?=\r?\n)|\n(?!(?:struct|union|enum|class|typedef|namespace|extern|template|static const)\b)\w[^\n;=()]*+\([^\n;={}]*+\{(?=\r?\n)
; What C++ adds: classes, namespaces, templates, members defined outside their class, operators.

(namespace_definition name: (_) @name body: (_) @body) @namespace
(namespace_definition !name body: (_) @body)
(namespace_alias_definition name: (_) @name) @namespace
(template_declaration) @body
(concept_definition name: (_) @name) @interface
(class_specifier name: (type_identifier) @name body: (_) @body) @class
(class_specifier name: (template_type name: (_) @name) body: (_) @body) @class
(struct_specifier name: (template_type name: (_) @name) body: (_) @body) @struct
(class_specifier name: (qualified_identifier scope: (_) @container name: (_) @name) body: (_) @body) @class
(struct_specifier name: (qualified_identifier scope: (_) @container name: (_) @name) body: (_) @body) @struct
(declaration type: (class_specifier name: (type_identifier) @name body: (_) @body) @class)
(field_declaration type: (class_specifier name: (type_identifier) @name body: (_) @body) @class)
(type_definition type: (class_specifier name: (type_identifier) @name body: (_) @body) @class)
(alias_declaration name: (_) @name) @class
(friend_declaration) @body

; Members with a body inside the class.
(function_definition declarator: (function_declarator declarator: [(field_identifier) (destructor_name)] @name) body: (_)? @inner) @method
(function_definition declarator: (function_declarator declarator: (operator_name) @name) body: (_)? @inner) @operator
(function_definition declarator: (reference_declarator (function_declarator declarator: [(field_identifier) (identifier)] @name)) body: (_)? @inner) @function
(function_definition declarator: (reference_declarator (function_declarator declarator: (operator_name) @name)) body: (_)? @inner) @operator
(function_definition declarator: (pointer_declarator declarator: (function_declarator declarator: (field_identifier) @name)) body: (_)? @inner) @method
(function_definition declarator: (pointer_declarator declarator: (function_declarator declarator: (operator_name) @name)) body: (_)? @inner) @operator
(function_definition declarator: (operator_cast) @name body: (_)? @inner) @operator
(function_definition declarator: (function_declarator declarator: (identifier) @name) !body) @function
(function_definition declarator: (function_declarator declarator: (template_function name: (_) @name)) body: (_)? @inner) @function

; `A::b` outside the class, also with more qualifiers and behind pointers and references.
(function_definition declarator: (function_declarator declarator: (qualified_identifier scope: (_) @container
  name: [(identifier) (destructor_name) (operator_name) (operator_cast) (template_function)] @name)) body: (_)? @inner) @method
(function_definition declarator: (pointer_declarator declarator: (function_declarator declarator: (qualified_identifier scope: (_) @container
  name: [(identifier) (operator_name) (template_function)] @name))) body: (_)? @inner) @method
(function_definition declarator: (reference_declarator (function_declarator declarator: (qualified_identifier scope: (_) @container
  name: [(identifier) (operator_name) (template_function)] @name))) body: (_)? @inner) @method
(function_definition declarator: (qualified_identifier scope: (_) @container name: (operator_cast) @name) body: (_)? @inner) @operator
(function_definition declarator: (function_declarator declarator: (qualified_identifier scope: (_) @container
  name: (qualified_identifier scope: (_) @container name: [(identifier) (destructor_name) (operator_name)] @name))) body: (_)? @inner) @method

; Members that the class only declares: others name them through it.
(field_declaration_list (declaration declarator: (function_declarator declarator: [(identifier) (destructor_name)] @name)) @method @declaration)
(field_declaration declarator: (function_declarator declarator: [(field_identifier) (destructor_name)] @name)) @method @declaration
(field_declaration declarator: (function_declarator declarator: (operator_name) @name)) @operator @declaration
(field_declaration declarator: (pointer_declarator declarator: (function_declarator declarator: (field_identifier) @name))) @method @declaration
(field_declaration declarator: (reference_declarator (function_declarator declarator: [(field_identifier) (operator_name)] @name))) @method @declaration
(field_declaration declarator: (reference_declarator (field_identifier) @name)) @field
(declaration declarator: (init_declarator declarator: (reference_declarator (identifier) @name))) @variable
(lambda_expression body: (_) @body) @scope
