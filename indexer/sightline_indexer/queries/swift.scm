; hint: \bfunc\b|\bclass\b|\bstruct\b|\benum\b
; comments: //
; Definitions of Swift: types, members of types and extensions, functions at any depth.

(class_declaration "enum" name: (type_identifier) @name body: (_) @body) @enum
(class_declaration "struct" name: (type_identifier) @name body: (_) @body) @struct
(class_declaration "extension" name: (_) @container body: (_) @body) @scope
(class_declaration name: (type_identifier) @name body: (_) @body) @class
(protocol_declaration name: (_) @name body: (_) @body) @interface
(enum_entry name: (simple_identifier) @name) @enummember
(function_declaration name: (simple_identifier) @name body: (_)? @inner) @function
(protocol_function_declaration name: (simple_identifier) @name) @method @declaration
(init_declaration "init" @name body: (_)? @inner) @constructor
(deinit_declaration "deinit" @name body: (_)? @inner) @method
(property_declaration name: (pattern (simple_identifier) @name)) @variable
(protocol_property_declaration name: (pattern (simple_identifier) @name)) @property
(typealias_declaration name: (type_identifier) @name) @class
(associatedtype_declaration name: (_) @name) @class
(lambda_literal) @scope
