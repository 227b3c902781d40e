; hint: #[ \t]*define\b|struct\s++\w++[^;{}()]*+\{|union\s++\w++[^;{}()]*+\{|enum\s++\w++[^;{}()]*+\{|class\s++\w++[^;{}()]*+\{
; bodies: \)[ \t]*+\r?\n\{(?=\r?\n)
; macros: \n(?<!\\\n)(?<!\\\r\n)[ \t]*+(#[ \t]*+define[ \t]++([A-Za-z_]\w*+)(?=[\s(])(\(?)[^\n\\/]*+(?:(?:\\\r?\n|/(?![*/])|\\(?!\r?\n)|//[^\n\\]*+(?=\n)|/\*[^*\n]*+\*++(?:[^/*\n][^*\n]*+\*++)*+/)[^\n\\/]*+)*+)(?=\n)
; comments: //
; Definitions of C: functions with a body, types, macros, names bound at file level, members. A prototype declares
; what another place defines, so it is none.

(function_definition declarator: (function_declarator declarator: (identifier) @name) body: (_) @inner) @function
(function_definition declarator: (pointer_declarator declarator: (function_declarator declarator: (identifier) @name)) body: (_) @inner) @function
(function_definition declarator: (pointer_declarator declarator: (pointer_declarator declarator: (function_declarator declarator: (identifier) @name))) body: (_) @inner) @function
(function_definition declarator: (parenthesized_declarator (function_declarator declarator: (identifier) @name)) body: (_) @inner) @function
(function_definition declarator: (function_declarator declarator: (parenthesized_declarator (identifier) @name)) body: (_) @inner) @function
(function_definition declarator: (function_declarator declarator: (function_declarator declarator: (identifier) @name)) body: (_) @inner) @function

(function_definition declarator: (function_declarator declarator: (parenthesized_declarator (pointer_declarator declarator: (function_declarator declarator: (identifier) @name)))) body: (_) @inner) @function

(struct_specifier name: (type_identifier) @name body: (_) @body) @struct
(union_specifier name: (type_identifier) @name body: (_) @body) @struct
(enum_specifier name: (type_identifier) @name body: (_) @body) @enum
(function_definition type: (struct_specifier name: (type_identifier) @name body: (_) @body) @struct)
(declaration type: (struct_specifier name: (type_identifier) @name body: (_) @body) @struct)
(declaration type: (union_specifier name: (type_identifier) @name body: (_) @body) @struct)
(declaration type: (enum_specifier name: (type_identifier) @name body: (_) @body) @enum)
(declaration type: (enum_specifier !name body: (_) @body))
(enum_specifier !name body: (_) @body)

(type_definition type: (struct_specifier name: (type_identifier) @name body: (_) @body) @struct)
(type_definition type: (union_specifier name: (type_identifier) @name body: (_) @body) @struct)
(type_definition type: (enum_specifier name: (type_identifier) @name body: (_) @body) @enum)
(type_definition type: (struct_specifier !name body: (_) @body) declarator: (type_identifier) @name) @struct
(type_definition type: (union_specifier !name body: (_) @body) declarator: (type_identifier) @name) @struct
(type_definition type: (enum_specifier !name body: (_) @body) declarator: (type_identifier) @name) @enum
(type_definition declarator: (type_identifier) @name) @class
(type_definition declarator: (pointer_declarator declarator: (type_identifier) @name)) @class
(type_definition declarator: (pointer_declarator declarator: (pointer_declarator declarator: (type_identifier) @name))) @class
(type_definition declarator: (array_declarator declarator: (type_identifier) @name)) @class
(type_definition declarator: (function_declarator declarator: (type_identifier) @name)) @class
(type_definition declarator: (function_declarator declarator: (parenthesized_declarator (type_identifier) @name))) @class
(type_definition declarator: (function_declarator declarator: (parenthesized_declarator (pointer_declarator declarator: (type_identifier) @name)))) @class
(type_definition declarator: (pointer_declarator declarator: (function_declarator declarator: (parenthesized_declarator (pointer_declarator declarator: (type_identifier) @name))))) @class

(enumerator name: (identifier) @name) @enummember
(field_declaration type: (struct_specifier name: (type_identifier) @name body: (_) @body) @struct)
(field_declaration type: (union_specifier name: (type_identifier) @name body: (_) @body) @struct)
(field_declaration type: (enum_specifier name: (type_identifier) @name body: (_) @body) @enum)
(field_declaration type: (struct_specifier !name body: (_) @body))
(field_declaration type: (union_specifier !name body: (_) @body))
(field_declaration declarator: (field_identifier) @name) @field
(field_declaration declarator: (pointer_declarator declarator: (field_identifier) @name)) @field
(field_declaration declarator: (pointer_declarator declarator: (pointer_declarator declarator: (field_identifier) @name))) @field
(field_declaration declarator: (array_declarator declarator: (field_identifier) @name)) @field
(field_declaration declarator: (function_declarator declarator: (parenthesized_declarator (pointer_declarator declarator: (field_identifier) @name)))) @field

; A macro is seen in the whole file, wherever it stands.
(preproc_def name: (identifier) @name) @constant @global
(preproc_function_def name: (identifier) @name) @function @global

; `extern` without a value declares; the place with the value defines.
(declaration (storage_class_specifier "extern") declarator: (identifier) @name) @import
(declaration (storage_class_specifier "extern") declarator: (pointer_declarator declarator: (identifier) @name)) @import
(declaration (storage_class_specifier "extern") declarator: (array_declarator declarator: (identifier) @name)) @import
(declaration declarator: (identifier) @name) @variable
(declaration declarator: (pointer_declarator declarator: (identifier) @name)) @variable
(declaration declarator: (array_declarator declarator: (identifier) @name)) @variable
(declaration declarator: (init_declarator declarator: (identifier) @name)) @variable
(declaration declarator: (init_declarator declarator: (pointer_declarator declarator: (identifier) @name))) @variable
(declaration declarator: (init_declarator declarator: (array_declarator declarator: (identifier) @name))) @variable

(declaration declarator: (init_declarator declarator: (pointer_declarator declarator: (array_declarator declarator: (identifier) @name)))) @variable
(declaration declarator: (init_declarator declarator: (function_declarator declarator: (parenthesized_declarator (pointer_declarator declarator: (identifier) @name))))) @variable

(preproc_if) @body
(preproc_ifdef) @body
(preproc_else) @body
(preproc_elif) @body
(linkage_specification body: (_) @body)
