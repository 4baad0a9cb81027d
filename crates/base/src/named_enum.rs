//! Declares enums whose values have a fixed name, used in job files, on the command line, in
//! reports and in the store.

/// Declares such an enum. Each value is written and read as its name.
#[macro_export]
macro_rules! named_enum {
    ($(#[$meta:meta])* pub enum $name:ident {
        $($(#[$about:meta])* $variant:ident = $text:tt,)+
    }) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        #[derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
        pub enum $name {
            $($(#[$about])* #[serde(rename = $text)] $variant,)+
        }

        impl $name {
            /// All values, in the order declared.
            pub const ALL: [$name; [$($text,)+].len()] = [$($name::$variant,)+];

            /// The name of this value.
            pub const fn as_str(self) -> &'static str {
                match self {
                    $($name::$variant => $text,)+
                }
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.pad(self.as_str())
            }
        }
    };
}

#[cfg(test)]
mod tests {
    use crate::units::Unit;

    #[test]
    fn a_name_is_written_as_it_is_read() {
        for unit in Unit::ALL {
            let text = format!("\"{unit}\"");
            assert_eq!(serde_json::to_string(&unit).unwrap(), text);
            assert_eq!(serde_json::from_str::<Unit>(&text).unwrap(), unit);
        }
    }
}
