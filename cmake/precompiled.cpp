int main() {}  // a target has to have a file: this one's headers are what counts
